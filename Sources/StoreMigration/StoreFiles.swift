internal import Foundation
internal import MigrationSystem

/// Copies the files of a store, whatever their names, and detects changes to them.
enum StoreFiles {
    /// Receives the number of copied bytes, and stops the copy by throwing.
    typealias Report = (_ count: Int64) throws -> Void

    /// Copies `name`, a file or a directory with everything in it, into another directory.
    ///
    /// Modes, times, links and attributes are kept, and owners if the system lets this process set
    /// them.
    static func copy(
        _ name: [UInt8],
        in source: borrowing FileDescriptor,
        to destination: borrowing FileDescriptor,
        report: Report
    ) throws {
        let status = try source.status(of: name)
        switch status.kind {
        case .regular:
            let file = try source.open(name, .reading)
            let copy = try destination.open(name, .creating(permissions: 0o600))
            try copyContents(of: file, to: copy, report: report)
            try finish(copy, like: file, status: status)
        case .symbolicLink:
            try destination.makeSymbolicLink(name, to: source.symbolicLinkTarget(name))
            try destination.setModificationTime(status.modificationTime, of: name)
        case .directory:
            try destination.makeDirectory(name, permissions: 0o700)
            let directory = OpenFile(try source.open(name, .directory))
            let copy = OpenFile(try destination.open(name, .directory))
            for name in try DirectoryListing(of: directory.descriptor) {
                try Self.copy(
                    name,
                    in: directory.descriptor,
                    to: copy.descriptor,
                    report: report
                )
            }
            try finish(copy.descriptor, like: directory.descriptor, status: status)
        default:
            throw SystemError.invalid("open")
        }
    }

    private static func copyContents(
        of file: borrowing FileDescriptor,
        to copy: borrowing FileDescriptor,
        report: Report
    ) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try file.read(into: &buffer, from: 0, count: buffer.count)
            if count == 0 { return }
            try copy.writeAll(buffer.span.extracting(first: count))
            try report(Int64(count))
        }
    }

    private static func finish(
        _ copy: borrowing FileDescriptor,
        like file: borrowing FileDescriptor,
        status: FileStatus
    ) throws {
        var attributes: [ExtendedAttribute] = []
        for name in try file.knownExtendedAttributeNames() where name.starts(with: "user.".utf8) {
            attributes.append(
                ExtendedAttribute(name: name, value: try file.extendedAttribute(name))
            )
        }
        if !attributes.isEmpty { try copy.setExtendedAttributes(attributes) }
        do {
            try copy.adoptOwner(of: status)
        } catch {
            guard error.isDenied else { throw error }
        }
        try copy.setPermissions(status.permissions)
        try copy.setModificationTime(status.modificationTime)
    }

    /// Makes `name` and everything in it survive a power loss.
    static func synchronize(
        _ name: [UInt8],
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        switch try directory.status(of: name).kind {
        case .regular: try directory.open(name, .reading).synchronize()
        case .directory:
            let child = OpenFile(try directory.open(name, .directory))
            for name in try DirectoryListing(of: child.descriptor) {
                try synchronize(name, in: child.descriptor)
            }
            try child.descriptor.synchronize()
        default: break
        }
    }
}

// MARK: - Seeing changes

extension StoreFiles {
    /// The bytes of a store's files, and a number that changes when one of them changes.
    ///
    /// It stays the same if the store itself is moved.
    struct Survey: Equatable {
        private(set) var bytes: Int64 = 0
        /// A number over the names and the times of the files (FNV-1a).
        private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        /// When the last of the files was changed.
        private(set) var newest = FileTime(seconds: .min)

        /// Examines `name` in `directory` and everything in it.
        init(of name: [UInt8], in directory: borrowing FileDescriptor) throws(SystemError) {
            try add(name, in: directory, isTop: true)
        }

        private mutating func add(
            _ name: [UInt8],
            in directory: borrowing FileDescriptor,
            isTop: Bool
        ) throws(SystemError) {
            let status = try directory.status(of: name)
            for byte in name { add(UInt64(byte)) }
            add(status.identity.inode)
            add(status.size)
            // A rename changes the change time of the renamed file.
            for time in [status.modificationTime] + (isTop ? [] : [status.changeTime]) {
                add(UInt64(bitPattern: time.seconds))
                add(UInt64(time.nanoseconds))
                newest = max(newest, time)
            }
            if status.kind == .regular {
                let (sum, overflow) = bytes.addingReportingOverflow(Int64(clamping: status.size))
                bytes = overflow ? .max : sum
            }
            guard status.kind == .directory else { return }
            let child = OpenFile(try directory.open(name, .directory))
            for name in try DirectoryListing(of: child.descriptor) {
                try add(name, in: child.descriptor, isTop: false)
            }
        }

        private mutating func add(_ number: UInt64) {
            digest = (digest ^ number) &* 0x100_0000_01B3
        }
    }
}

// MARK: - Small files

extension StoreFiles {
    /// The largest file that is read into memory.
    private static let sizeLimit = 256 << 20

    /// Reads the whole file at `path`.
    static func contents(of path: BytePath) throws(StoreMigrationError) -> [UInt8] {
        let contents: [UInt8]?
        do throws(SystemError) {
            contents = try FileDescriptor.open(path, .reading).readAll(limit: sizeLimit)
        } catch {
            throw StoreMigrationError(error, message: "can't read the store", at: path)
        }
        guard let contents else {
            let message =
                "it is larger than 256 MiB, too large for a JSON document; perhaps it is an encrypted "
                + "SQLite file"
            throw StoreMigrationError(
                .damaged,
                message,
                at: String(decoding: path.bytes, as: UTF8.self)
            )
        }
        return contents
    }

    /// The text of a small file, without surrounding white space; `nil` if there is no such file.
    static func text(
        of path: BytePath,
        store: BytePath
    ) throws(StoreMigrationError) -> String? {
        do throws(SystemError) {
            guard try FileDescriptor.statusIfPresent(atPath: path) != nil else { return nil }
            let bytes = try FileDescriptor.open(path, .reading).readAll(limit: 4096) ?? []
            return String(decoding: bytes, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw StoreMigrationError(error, message: "can't read the store's version", at: store)
        }
    }

    /// Replaces or makes a file in a copy that no other process uses.
    static func replace(
        _ path: BytePath,
        with bytes: [UInt8],
        store: BytePath
    ) throws(StoreMigrationError) {
        do throws(SystemError) {
            if try FileDescriptor.statusIfPresent(atPath: path) == nil {
                try FileDescriptor.open(path, .creating(permissions: 0o644)).writeAll(bytes.span)
            } else {
                let file = try FileDescriptor.open(path, .writing)
                try file.setSize(0)
                try file.writeAll(bytes.span)
            }
        } catch {
            throw StoreMigrationError(error, message: "can't write the store's version", at: store)
        }
    }
}

extension StoreMigrationError {
    /// Makes the error for a failed system call.
    init(_ error: SystemError, message: String, at path: BytePath) {
        let code: Code =
            if error.isOutOfSpace {
                .outOfSpace
            } else if error.isMissing {
                .missing
            } else {
                .failed
            }
        self.init(code, message, at: String(decoding: path.bytes, as: UTF8.self), cause: error)
    }
}
