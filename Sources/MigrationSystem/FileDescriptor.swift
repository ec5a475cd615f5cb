internal import CMigrationShims
internal import Glibc

/// An open file that this value alone owns, and closes when its life ends.
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
        /// For reading; never waits for a FIFO's writer.
        case reading
        /// For reading a directory.
        case directory
        /// For writing a file that must not exist yet.
        case creating(permissions: UInt16)

        fileprivate var flags: CInt {
            switch self {
            case .reading: O_RDONLY | O_NONBLOCK | O_NOCTTY
            case .directory: O_RDONLY | O_DIRECTORY
            case .creating: O_RDWR | O_CREAT | O_EXCL
            }
        }

        fileprivate var mode: mode_t {
            if case .creating(let permissions) = self { mode_t(permissions) } else { 0 }
        }
    }

    /// Opens `path`; a link in its last component is not followed.
    package static func open(
        _ path: ByteString,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        try open(path, relativeTo: AT_FDCWD, access)
    }

    /// Opens `path`, following links, as a person who names a file expects.
    package static func openFollowingLinks(
        _ path: ByteString,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = try retryingOnInterrupt("open") {
            path.withPath { unsafe Glibc.open($0, access.flags | O_CLOEXEC, access.mode) }
        }
        return FileDescriptor(adopting: rawValue)
    }

    /// Opens `path` as a mere place, which can be looked at and named in a rule but not read.
    static func openPlace(_ path: ByteString) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try retryingOnInterrupt("open") {
                path.withPath { unsafe migration_open_place($0) }
            }
        )
    }

    /// Opens `name` in this directory; a link is not followed.
    package borrowing func open(
        _ name: ByteString,
        _ access: Access
    ) throws(SystemError) -> FileDescriptor {
        try Self.open(name, relativeTo: rawValue, access)
    }

    private static func open(
        _ path: ByteString,
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

    /// Opens a file without a name in this directory; it is gone when it is closed.
    package borrowing func openUnnamed(
        permissions: UInt16 = 0o600
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        let mode = mode_t(permissions)
        return FileDescriptor(
            adopting: try retryingOnInterrupt("open") { migration_open_unnamed(rawValue, mode) }
        )
    }

    /// Opens a place that takes everything and keeps nothing.
    package static func openForDiscarding() throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try retryingOnInterrupt("open") {
                unsafe Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
            }
        )
    }

    /// Makes a second descriptor of the same open file.
    package borrowing func duplicate() throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        return FileDescriptor(
            adopting: try retryingOnInterrupt("fcntl") { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) }
        )
    }

    /// Makes a second descriptor of a descriptor number that this process was given.
    package static func duplicate(ofNumber number: CInt) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try retryingOnInterrupt("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
        )
    }
}

// MARK: - Status

extension FileDescriptor {
    /// What the system knows of the open file.
    package borrowing func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(rawValue, &status) == 0 else { throw SystemError("fstat") }
        return FileStatus(status)
    }

    /// What the system knows of `name` in this directory; a link is not followed.
    package borrowing func status(of name: ByteString) throws(SystemError) -> FileStatus {
        try status(of: name[...])
    }

    /// What the system knows of `name` in this directory; a link is not followed.
    package borrowing func status(
        of name: ArraySlice<UInt8>
    ) throws(SystemError) -> FileStatus {
        var status = stat()
        let rawValue = rawValue
        let result = name.withPath { unsafe fstatat(rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { throw SystemError("lstat") }
        return FileStatus(status)
    }

    /// What the system knows of `path`; a link in its last component is not followed.
    package static func status(atPath path: ByteString) throws(SystemError) -> FileStatus {
        var status = stat()
        let result = path.withPath { unsafe lstat($0, &status) }
        guard result == 0 else { throw SystemError("lstat") }
        return FileStatus(status)
    }

    /// Sets the permission bits of the open file.
    package borrowing func setPermissions(_ permissions: UInt16) throws(SystemError) {
        guard fchmod(rawValue, mode_t(permissions)) == 0 else { throw SystemError("fchmod") }
    }

    /// Sets the permission bits of `name` in this directory; a link is refused, not followed.
    package borrowing func setPermissions(
        _ permissions: UInt16,
        of name: ByteString
    ) throws(SystemError) {
        let rawValue = rawValue
        let flags = AT_SYMLINK_NOFOLLOW
        // The C library may have to open what it is about, which a signal can interrupt.
        _ = try retryingOnInterrupt("fchmodat") {
            name.withPath { unsafe fchmodat(rawValue, $0, mode_t(permissions), flags) }
        }
    }

    /// Sets the modification time of the open file; the access time becomes the same.
    package borrowing func setModificationTime(_ time: FileTime) throws(SystemError) {
        let value = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let result = unsafe withUnsafeTemporaryAllocation(of: timespec.self, capacity: 2) { times in
            unsafe times.initialize(repeating: value)
            return unsafe futimens(rawValue, times.baseAddress)
        }
        guard result == 0 else { throw SystemError("futimens") }
    }

    /// Sets the modification time of `name` in this directory, of a link itself where it is one.
    package borrowing func setModificationTime(
        _ time: FileTime,
        of name: ByteString
    ) throws(SystemError) {
        let value = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let rawValue = rawValue
        let result = unsafe withUnsafeTemporaryAllocation(of: timespec.self, capacity: 2) { times in
            unsafe times.initialize(repeating: value)
            return name.withPath {
                unsafe utimensat(rawValue, $0, times.baseAddress, AT_SYMLINK_NOFOLLOW)
            }
        }
        guard result == 0 else { throw SystemError("utimensat") }
    }

    /// Sets the size of the open file; what lies past the data is a hole.
    package borrowing func setSize(_ size: UInt64) throws(SystemError) {
        let rawValue = rawValue
        _ = try retryingOnInterrupt("ftruncate") { ftruncate(rawValue, off_t(size)) }
    }

    /// Makes what was written to the open file last through a power loss.
    package borrowing func synchronize() throws(SystemError) {
        guard fsync(rawValue) == 0 else { throw SystemError("fsync") }
    }

    /// Makes everything on the open file's file system last through a power loss.
    package borrowing func synchronizeFileSystem() throws(SystemError) {
        guard migration_sync_file_system(rawValue) == 0 else { throw SystemError("syncfs") }
    }
}

// MARK: - Directory operations

extension FileDescriptor {
    /// Makes a directory that must not exist yet.
    package borrowing func makeDirectory(
        _ name: ByteString,
        permissions: UInt16
    ) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe mkdirat(rawValue, $0, mode_t(permissions)) }) == 0 else {
            throw SystemError("mkdir")
        }
    }

    /// Makes a symbolic link that must not exist yet.
    package borrowing func makeSymbolicLink(
        _ name: ByteString,
        to target: ByteString
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath { name in
            target.withPath { target in unsafe symlinkat(target, rawValue, name) }
        }
        guard result == 0 else { throw SystemError("symlink") }
    }

    /// Makes `name` in this directory another name of `target` in `directory`, links not followed.
    package borrowing func makeHardLink(
        _ name: ByteString,
        to target: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let (rawValue, source) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            target.withPath { target in unsafe linkat(source, target, rawValue, name, 0) }
        }
        guard result == 0 else { throw SystemError("link") }
    }

    /// Reads where a symbolic link leads, whole, whatever its length.
    package borrowing func symbolicLinkTarget(
        _ name: ByteString
    ) throws(SystemError) -> ByteString {
        let rawValue = rawValue
        var target = [UInt8](repeating: 0, count: 256)
        while true {
            let count = unsafe target.withUnsafeMutableBytes { buffer in
                name.withPath {
                    unsafe readlinkat(
                        rawValue,
                        $0,
                        buffer.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped,
                        buffer.count
                    )
                }
            }
            if count < 0 { throw SystemError("readlink") }
            if count < target.count { return ByteString(target[..<count]) }
            target = [UInt8](repeating: 0, count: target.count * 4)
        }
    }

    /// Removes a file, a link or anything else that is no directory.
    package borrowing func removeFile(_ name: ByteString) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, 0) }) == 0 else {
            throw SystemError("unlink")
        }
    }

    /// Removes an empty directory.
    package borrowing func removeDirectory(_ name: ByteString) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, AT_REMOVEDIR) }) == 0 else {
            throw SystemError("rmdir")
        }
    }

    /// Renames `name`, replacing a file of the new name in one step.
    package borrowing func rename(
        _ name: ByteString,
        to newName: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let (source, destination) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            newName.withPath { unsafe renameat(source, name, destination, $0) }
        }
        guard result == 0 else { throw SystemError("rename") }
    }

    /// Renames `name`; fails where the new name is taken.
    package borrowing func renameExclusively(
        _ name: ByteString,
        to newName: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let (source, destination) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            newName.withPath { unsafe migration_rename_exclusive(source, name, destination, $0) }
        }
        if result == 0 { return }
        let error = SystemError("renameat2")
        guard error.isUnsupported else { throw error }
        // File systems that can't do it in one step, such as NFS: look, then rename.
        do {
            _ = try directory.status(of: newName)
        } catch let status where status.isMissing {
            return try rename(name, to: newName, in: directory)
        }
        throw SystemError("rename", code: SystemError.existingCode)
    }

    /// Swaps two names of this directory in one step.
    package borrowing func exchange(
        _ name: ByteString,
        with other: ByteString
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath { name in
            other.withPath { unsafe migration_rename_exchange(rawValue, name, rawValue, $0) }
        }
        guard result == 0 else { throw SystemError("renameat2") }
    }
}
