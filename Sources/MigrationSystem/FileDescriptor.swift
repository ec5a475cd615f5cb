internal import CMigrationShims
internal import Glibc

/// An open file that only this value owns, and that it closes when it is destroyed.
package struct FileDescriptor: ~Copyable, Sendable {
    package let rawValue: CInt

    package init(adopting rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// Closes the file and reports a failure, which `deinit` can't do.
    ///
    /// An interrupted close isn't repeated: on Linux the descriptor is already free.
    package consuming func close() throws(SystemError) {
        let rawValue = rawValue
        discard self
        guard Glibc.close(rawValue) == 0 || errno == EINTR else { throw SystemError("close") }
    }

    deinit {
        _ = Glibc.close(rawValue)
    }
}

extension FileDescriptor {
    /// How a file is opened.
    package enum Access: Sendable {
        /// For reading; doesn't wait for a FIFO's writer.
        case reading
        /// For reading a directory.
        case directory
        /// For changing an existing file.
        case writing
        /// For writing at the end of a file, which is made if it is missing; fails for a FIFO without a
        /// reader.
        case appending(permissions: UInt16)
        /// For reading and changing an existing file.
        case updating
        /// For writing a file that must not exist yet.
        case creating(permissions: UInt16)

        fileprivate var flags: CInt {
            switch self {
            case .reading: O_RDONLY | O_NONBLOCK | O_NOCTTY
            case .directory: O_RDONLY | O_DIRECTORY
            case .writing: O_WRONLY | O_NONBLOCK | O_NOCTTY
            case .appending: O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY
            case .updating: O_RDWR | O_NONBLOCK | O_NOCTTY
            case .creating: O_RDWR | O_CREAT | O_EXCL
            }
        }

        fileprivate var mode: mode_t {
            switch self {
            case .appending(let permissions), .creating(let permissions): mode_t(permissions)
            default: 0
            }
        }
    }

    /// Opens `path`; a link in its last component is not followed.
    package static func open(
        _ path: BytePath,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        try open(path.bytes, relativeTo: AT_FDCWD, access)
    }

    /// Opens `path` and follows links, as expected of a path that a person types.
    package static func openFollowingLinks(
        _ path: BytePath,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = try retryingOnInterrupt("open") {
            path.withCString { unsafe Glibc.open($0, access.flags | O_CLOEXEC, access.mode) }
        }
        return FileDescriptor(adopting: rawValue)
    }

    /// Opens `path` with O_PATH: its status can be read and a rule can name it, but its content
    /// can't be read.
    static func openPlace(_ path: BytePath) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try retryingOnInterrupt("open") {
                path.withCString { unsafe migration_open_place($0) }
            }
        )
    }

    /// Opens `name` in this directory; a link is not followed.
    package borrowing func open(
        _ name: [UInt8],
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        try Self.open(name, relativeTo: rawValue, access)
    }

    private static func open(
        _ path: [UInt8],
        relativeTo directory: CInt,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        let flags = access.flags | O_NOFOLLOW | O_CLOEXEC
        let rawValue = try retryingOnInterrupt("open") {
            path.withPath { unsafe openat(directory, $0, flags, access.mode) }
        }
        return FileDescriptor(adopting: rawValue)
    }

    /// Opens the file `name` in this directory for reading; a link is not followed.
    package borrowing func openFile(
        _ name: ArraySlice<UInt8>
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        let flags = Access.reading.flags | O_NOFOLLOW | O_CLOEXEC
        return FileDescriptor(
            adopting: try retryingOnInterrupt("open") {
                name.withPath { unsafe openat(rawValue, $0, flags) }
            }
        )
    }

    /// Opens an unnamed file in this directory; it is deleted when it is closed.
    package borrowing func openUnnamed(
        permissions: UInt16 = 0o600
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        let mode = mode_t(permissions)
        return FileDescriptor(
            adopting: try retryingOnInterrupt("open") { migration_open_unnamed(rawValue, mode) }
        )
    }

    /// Opens a temporary file in this directory, which is deleted when it is closed.
    ///
    /// On file systems that can't make unnamed files (NFS, FAT), it briefly has a random name.
    package borrowing func openTemporary() throws(SystemError) -> FileDescriptor {
        do {
            return try openUnnamed()
        } catch {
            // Kernels that don't know the flag report an attempt to write to the directory.
            guard error.isUnsupported || error.isDirectory else { throw error }
        }
        let name = [UInt8](utf8: ".migration-\(UInt64.random(in: 0...UInt64.max))")
        let file = try open(name, .creating(permissions: 0o600))
        try removeFile(name)
        return file
    }

    /// Makes a second descriptor of the same open file.
    package borrowing func duplicate() throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        return FileDescriptor(
            adopting: try retryingOnInterrupt("fcntl") { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) }
        )
    }

    /// Makes a second descriptor of a descriptor number that this process inherited.
    package static func duplicate(ofNumber number: CInt) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try retryingOnInterrupt("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
        )
    }
}

// MARK: - Files beneath a directory

extension FileDescriptor {
    /// The longest path that system calls accept.
    package static let longestPath = 4095

    /// Opens the directory at `path`, following links in it only if they stay beneath this one.
    ///
    /// - Throws: ``SystemError`` for which ``SystemError/isCrossDevice`` is true if the path leads out.
    package borrowing func openDirectoryBeneath(
        _ path: BytePath
    ) throws(SystemError) -> FileDescriptor {
        try openBeneath(path.bytes[...], flags: Access.directory.flags, .directory)
    }

    /// Opens the file or directory at `path`, of any length, for reading; a link in its last
    /// component is not followed, and others only if they stay beneath this directory.
    ///
    /// - Throws: ``SystemError`` for which ``SystemError/isCrossDevice`` is true if it leads out.
    package borrowing func openBeneath(
        _ path: ArraySlice<UInt8>,
        for access: Access
    ) throws(SystemError) -> FileDescriptor {
        guard path.count > Self.longestPath else {
            return try openBeneath(path, flags: access.flags | O_NOFOLLOW, access)
        }
        let slash = UInt8(ascii: "/")
        guard let end = path.prefix(Self.longestPath).lastIndex(of: slash) else {
            throw SystemError("openat2", code: ENAMETOOLONG)
        }
        let directory = try openBeneath(
            path[..<end],
            flags: Access.directory.flags,
            .directory
        )
        return try directory.openBeneath(path[(end + 1)...], for: access)
    }

    /// Opens or makes the file at `path` beneath this directory, without following links.
    package borrowing func openBeneathWithoutLinks(
        _ path: ArraySlice<UInt8>,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        do {
            let descriptor = try retryingOnInterrupt("open") {
                path.withPath {
                    unsafe migration_open_without_links(rawValue, $0, access.flags, access.mode)
                }
            }
            return FileDescriptor(adopting: descriptor)
        } catch {
            // Opening the components one by one shows where a link is, and needs no call that a
            // sandbox may refuse.
            guard error.isUnsupported || error.isNotDirectory || error.isBusy else { throw error }
            return try openWithoutLinks(path, access)
        }
    }

    private borrowing func openBeneath(
        _ path: ArraySlice<UInt8>,
        flags: CInt,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        do {
            let descriptor = try retryingOnInterrupt("openat2") {
                path.withPath { unsafe migration_open_beneath(rawValue, $0, flags) }
            }
            return FileDescriptor(adopting: descriptor)
        } catch {
            // Sandboxes and older kernels don't have this call.
            guard error.isUnsupported else { throw error }
            return try openWithoutLinks(path, access)
        }
    }

    /// Opens what is at `path`, refusing any link in it.
    private borrowing func openWithoutLinks(
        _ path: ArraySlice<UInt8>,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        var directory = try open([UInt8](utf8: "."), .directory)
        let components = path.split(separator: UInt8(ascii: "/"))
        for component in components.dropLast() {
            directory = try directory.open(Self.name(component), .directory)
        }
        guard let last = components.last else { return directory }
        return try directory.open(Self.name(last), access)
    }

    private static func name(_ component: ArraySlice<UInt8>) throws(SystemError) -> [UInt8] {
        guard !component.elementsEqual("..".utf8) else { throw SystemError("openat", code: EXDEV) }
        return [UInt8](component)
    }
}

// MARK: - Sharing

/// An open file or directory that several holders share; the last one to release it closes it.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }
}
