internal import Glibc

extension FileDescriptor {
    /// The bytes that this process may still write on the open file's file system.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        var space = statvfs()
        guard unsafe fstatvfs(rawValue, &space) == 0 else { throw SystemError("fstatvfs") }
        return UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }
}
