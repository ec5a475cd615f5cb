internal import CMigrationShims
internal import Glibc

/// What the system knows of files, and what of it is set.
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

    /// Sets whose the open file is, which may clear its set-id bits.
    package borrowing func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        guard fchown(rawValue, owner, group) == 0 else { throw SystemError("fchown") }
    }

    /// Gives the open file to `owner`.
    package borrowing func setOwner(_ owner: FileOwner) throws(SystemError) {
        try setOwner(owner.user, group: owner.group)
    }

    /// Gives `name` in this directory, which may be a link, to `owner`.
    package borrowing func setOwner(
        _ owner: FileOwner,
        of name: ByteString
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath {
            unsafe fchownat(rawValue, $0, owner.user, owner.group, AT_SYMLINK_NOFOLLOW)
        }
        guard result == 0 else { throw SystemError("fchownat") }
    }

    /// Gives the open file to the owner and the group that `status` names, where it has others.
    package borrowing func adoptOwner(of other: FileStatus) throws(SystemError) {
        let status = try status()
        guard status.owner != other.owner || status.group != other.group else { return }
        try setOwner(other.owner, group: other.group)
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
