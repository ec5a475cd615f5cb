internal import Glibc

extension FileDescriptor {
    /// The bytes that this process may still write on the open file's file system.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        var space = statvfs()
        guard unsafe fstatvfs(rawValue, &space) == 0 else { throw SystemError("fstatvfs") }
        return UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }

    /// Whether the open file's file system takes note of when a file is read.
    package borrowing func recordsAccess() throws(SystemError) -> Bool {
        var system = statvfs()
        guard unsafe fstatvfs(rawValue, &system) == 0 else { throw SystemError("fstatvfs") }
        return system.f_flag & noAccessTime == 0
    }
}

/// ST_NOATIME (statvfs(3)), which the C library's Swift module hides.
private let noAccessTime: UInt = 1024
