internal import Glibc

/// A file that appears under its name only when it is complete.
///
/// Until then it has the name with `.partial` behind it, which a process that dies leaves and the
/// next one that writes the same file takes over.
package struct PendingFile: ~Copyable {
    private let directory: OpenFile
    private let name: ByteString
    private let temporaryName: ByteString
    private let replacesExisting: Bool

    /// The open file, for writing.
    package let file: OpenFile

    private init(directory: OpenFile, name: ByteString, file: OpenFile, replacesExisting: Bool) {
        self.directory = directory
        self.name = name
        self.file = file
        self.replacesExisting = replacesExisting
        temporaryName = Self.temporaryName(for: name)
    }

    /// Begins the file at `path`, readable by its owner alone.
    ///
    /// - Throws: ``SystemError`` that ``SystemError/isExisting`` where the file is there and is not
    ///   to be replaced, and that ``SystemError/isBusy`` where another process is writing it.
    package static func make(
        at path: PathName,
        replacingExisting: Bool
    ) throws(SystemError) -> PendingFile {
        let directory = OpenFile(try FileDescriptor.open(path.parent, .directory))
        // A long name may be what another is cut to.
        guard temporaryName(for: path.name) != path.name else {
            throw SystemError("open", code: ENAMETOOLONG)
        }
        // Of all that exists, the root directory alone has no name.
        if path.name.isEmpty { throw SystemError("open", code: SystemError.existingCode) }
        if !replacingExisting, try exists(path.name, in: directory) {
            throw SystemError("open", code: SystemError.existingCode)
        }
        return PendingFile(
            directory: directory,
            name: path.name,
            file: try create(temporaryName(for: path.name), in: directory),
            replacesExisting: replacingExisting
        )
    }

    private static func temporaryName(for name: ByteString) -> ByteString {
        ByteString(name.prefix(240)) + ByteString(utf8: ".partial")
    }

    private static func exists(
        _ name: ByteString,
        in directory: OpenFile
    ) throws(SystemError) -> Bool {
        do {
            _ = try directory.descriptor.status(of: name)
            return true
        } catch  where error.isMissing {
            return false
        }
    }

    private static func create(
        _ name: ByteString,
        in directory: OpenFile
    ) throws(SystemError) -> OpenFile {
        do {
            let left = try directory.descriptor.open(name, .reading)
            try left.lock(.exclusive)
            // Another process may have taken over what was left before the lock was had.
            if try left.status().identity == directory.descriptor.status(of: name).identity {
                try directory.descriptor.removeFile(name)
            }
        } catch  where error.isMissing {}
        let file = OpenFile(
            try directory.descriptor.open(name, .creating(permissions: 0o600))
        )
        do {
            try file.descriptor.lock(.exclusive)
        } catch {
            // Whoever holds the lock has taken the file over, and the name may be another's by now.
            if !error.isBusy { try? directory.descriptor.removeFile(name) }
            throw error
        }
        return file
    }

    /// The bytes that may still be written beside the file.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        try directory.descriptor.availableSpace()
    }

    /// Makes the file last and gives it its name.
    package consuming func commit() throws(SystemError) {
        do {
            try file.descriptor.synchronize()
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

    /// Removes what was written.
    package consuming func discard() {
        remove()
    }

    private borrowing func remove() {
        // The reason for discarding is what the person must hear, not that tidying up failed too.
        try? directory.descriptor.removeFile(temporaryName)
    }
}
