internal import CMigrationShims
internal import Glibc

extension FileDescriptor {
    /// Opens the directory at `path`, following the links in it as long as they stay beneath this one.
    ///
    /// - Throws: ``SystemError`` for which ``SystemError/isCrossDevice`` is true where it leads out.
    package borrowing func openDirectoryBeneath(
        _ path: ByteString
    ) throws(SystemError) -> FileDescriptor {
        let rawValue = rawValue
        do {
            let descriptor = try retryingOnInterrupt("openat2") {
                path.withPath { unsafe migration_open_directory_beneath(rawValue, $0) }
            }
            return FileDescriptor(adopting: descriptor)
        } catch {
            // In a sandbox, and in older kernels, there is no such call.
            guard error.isUnsupported else { throw error }
            return try openDirectoryWithoutLinks(path)
        }
    }

    /// Opens the directory at `path`, refusing any link in it.
    private borrowing func openDirectoryWithoutLinks(
        _ path: ByteString
    ) throws(SystemError) -> FileDescriptor {
        var directory = try open(ByteString(utf8: "."), .directory)
        for component in path.split(separator: UInt8(ascii: "/")) {
            guard !component.elementsEqual("..".utf8) else {
                throw SystemError("openat", code: EXDEV)
            }
            directory = try directory.open(ByteString(component), .directory)
        }
        return directory
    }
}
