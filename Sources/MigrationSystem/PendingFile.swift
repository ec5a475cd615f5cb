internal import Glibc

/// A file that appears under its name only when it is complete.
///
/// Until then its name ends in `.partial`. A process that dies leaves such a file. The next process
/// that writes the same file takes it over, either emptied or with its content. Only regular files
/// are replaced.
package struct PendingFile: ~Copyable {
    private let directory: OpenFile
    private let name: [UInt8]
    private let temporaryName: [UInt8]
    private let replacesExisting: Bool

    /// The open file, for writing.
    package let file: OpenFile

    private init(directory: OpenFile, name: [UInt8], file: OpenFile, replacesExisting: Bool) {
        (self.directory, self.name, self.file) = (directory, name, file)
        self.replacesExisting = replacesExisting
        temporaryName = Self.temporaryName(for: name)
    }

    /// Begins the file at `path`, which only its owner can read.
    ///
    /// If `resumes`, it keeps the content that an earlier process of this user left. If there is no
    /// such file, this user's file at `path` is resumed if `isCut` says that it is incomplete.
    ///
    /// - Throws: ``SystemError`` that ``SystemError/isExisting`` if the file exists and must not be
    ///   replaced, and that ``SystemError/isBusy`` if another process is writing it.
    package static func make(
        at path: BytePath,
        replacesExisting: Bool,
        resumes: Bool = false,
        isCut: (OpenFile) throws(SystemError) -> Bool = { _ in false }
    ) throws(SystemError) -> PendingFile {
        let directory = OpenFile(try FileDescriptor.open(path.parent, .directory))
        // Two long names may be equal once shortened.
        guard temporaryName(for: path.lastComponent) != path.lastComponent else {
            throw SystemError("open", code: ENAMETOOLONG)
        }
        // Only the root directory has no name.
        if path.lastComponent.isEmpty { throw SystemError("open", code: SystemError.existingCode) }
        if resumes {
            try takeCutFile(path.lastComponent, in: directory, isCut)
        }
        try check(path.lastComponent, in: directory, replacesExisting: replacesExisting)
        return PendingFile(
            directory: directory,
            name: path.lastComponent,
            file: try open(
                temporaryName(for: path.lastComponent),
                in: directory,
                resumes: resumes
            ),
            replacesExisting: replacesExisting
        )
    }

    /// Writes a whole file, which only its owner can read.
    ///
    /// - Throws: What ``make(at:replacesExisting:)`` throws, and errors of writing.
    package static func write(
        _ bytes: [UInt8],
        at path: BytePath,
        replacesExisting: Bool
    ) throws(SystemError) {
        let pending = try make(at: path, replacesExisting: replacesExisting)
        do throws(SystemError) {
            try pending.file.descriptor.writeAll(bytes.span)
        } catch {
            pending.discard()
            throw error
        }
        try pending.commit()
    }

    /// Throws an error that ``SystemError/isExisting`` if something that may not be replaced has
    /// `name`.
    private static func check(
        _ name: [UInt8],
        in directory: OpenFile,
        replacesExisting: Bool
    ) throws(SystemError) {
        guard let status = try directory.descriptor.statusIfPresent(of: name) else { return }
        guard replacesExisting, status.kind == .regular else {
            throw SystemError("rename", code: SystemError.existingCode)
        }
    }

    private static func temporaryName(for name: [UInt8]) -> [UInt8] {
        [UInt8](name.prefix(240)) + [UInt8](utf8: ".partial")
    }

    /// If the file `name` was truncated, renames it to an unfinished file, unless there is one.
    private static func takeCutFile(
        _ name: [UInt8],
        in directory: OpenFile,
        _ isCut: (OpenFile) throws(SystemError) -> Bool
    ) throws(SystemError) {
        let temporaryName = temporaryName(for: name)
        guard try directory.descriptor.statusIfPresent(of: temporaryName) == nil,
            try directory.descriptor.statusIfPresent(of: name)?.isOfThisUserAlone == true,
            try isCut(OpenFile(directory.descriptor.open(name, .reading)))
        else { return }
        try directory.descriptor.renameExclusively(
            name,
            to: temporaryName,
            in: directory.descriptor
        )
    }

    private static func open(
        _ name: [UInt8],
        in directory: OpenFile,
        resumes: Bool
    ) throws(SystemError) -> OpenFile {
        guard resumes else { return try create(name, in: directory) }
        do throws(SystemError) {
            let file = OpenFile(try directory.descriptor.open(name, .updating))
            let status = try file.descriptor.status()
            // If another user owned the file, or it had another name, others could read and change
            // the new content.
            guard status.isOfThisUserAlone else { return try create(name, in: directory) }
            try file.descriptor.lock(.exclusive)
            // Another process may have finished the file before it was locked here.
            try checkHasName(name, file, in: directory)
            if status.permissions & 0o077 != 0 {
                // A file system without permissions ignores them for new files too.
                try? file.descriptor.setPermissions(0o600)
            }
            return file
        } catch {
            guard error.isMissing else { throw error }
            return try create(name, in: directory)
        }
    }

    private static func create(
        _ name: [UInt8],
        in directory: OpenFile
    ) throws(SystemError) -> OpenFile {
        do {
            let left = try directory.descriptor.open(name, .reading)
            try left.lock(.exclusive)
            // Another process may have taken the file over before it was locked here.
            if try left.status().identity == directory.descriptor.status(of: name).identity {
                try directory.descriptor.removeFile(name)
            }
        } catch  where error.isMissing {}
        let file: OpenFile
        do {
            file = OpenFile(try directory.descriptor.open(name, .creating(permissions: 0o600)))
        } catch  where error.isExisting {
            throw .busy
        }
        do {
            try file.descriptor.lock(.exclusive)
            // Before it was locked, another process may have removed it as a leftover.
            try checkHasName(name, file, in: directory)
        } catch {
            // By now the name may belong to the file of the process that holds the lock.
            if !error.isBusy, (try? checkHasName(name, file, in: directory)) != nil {
                try? directory.descriptor.removeFile(name)
            }
            throw error
        }
        return file
    }

    /// Throws unless the locked file still has that name.
    private static func checkHasName(
        _ name: [UInt8],
        _ file: OpenFile,
        in directory: OpenFile
    ) throws(SystemError) {
        let named = try directory.descriptor.statusIfPresent(of: name)
        guard try named?.identity == file.descriptor.status().identity else { throw .busy }
    }

    /// The bytes that may still be written beside the file.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        try directory.descriptor.availableSpace()
    }

    /// Writes the file to the disk and gives it its name.
    package consuming func commit() throws(SystemError) {
        do {
            try file.descriptor.synchronize()
            // Another process may have put something else there, such as a device.
            try Self.check(name, in: directory, replacesExisting: replacesExisting)
            if replacesExisting {
                try directory.descriptor.rename(
                    temporaryName,
                    to: name,
                    in: directory.descriptor
                )
            } else {
                try directory.descriptor.renameExclusively(
                    temporaryName,
                    to: name,
                    in: directory.descriptor
                )
            }
        } catch {
            remove()
            throw error
        }
        try directory.descriptor.synchronize()
    }

    /// Leaves the unfinished file where it is, for a process that resumes it.
    package consuming func leave() {}

    /// Renames the unfinished file, so that a new one can be begun; returns the new name.
    package consuming func setAside() throws(SystemError) -> [UInt8] {
        try Self.checkHasName(temporaryName, file, in: directory)
        var number = 1
        while true {
            let name = temporaryName + [UInt8](utf8: "-\(number)")
            do throws(SystemError) {
                try directory.descriptor.renameExclusively(
                    temporaryName,
                    to: name,
                    in: directory.descriptor
                )
                return name
            } catch {
                guard error.isExisting, number < 999 else { throw error }
                number += 1
            }
        }
    }

    /// Removes the unfinished file.
    package consuming func discard() {
        remove()
    }

    private borrowing func remove() {
        // The caller reports why the file is discarded; a failure to remove it must not hide that.
        try? directory.descriptor.removeFile(temporaryName)
    }
}

extension FileDescriptor {
    /// Opens the pipe or the device at `path` for writing; `nil` if `path` is something else or
    /// doesn't exist.
    package static func openStream(at path: BytePath) throws(SystemError) -> FileDescriptor? {
        do throws(SystemError) {
            switch try openPlace(path).status().kind {
            case .fifo, .characterDevice, .socket: return try openFollowingLinks(path, .writing)
            default: return nil
            }
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}

extension FileStatus {
    /// Whether it is a file of this user with only one name.
    fileprivate var isOfThisUserAlone: Bool {
        kind == .regular && owner == Self.currentUser && linkCount == 1
    }
}
