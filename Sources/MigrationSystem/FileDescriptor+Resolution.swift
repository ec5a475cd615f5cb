internal import CMigrationShims
internal import Glibc

extension FileDescriptor {
    /// Where a path leads when the links in it are followed, beneath this directory.
    package enum Resolution: Sendable {
        /// To something inside.
        case inside
        /// Out of the directory.
        case outside
        /// To nothing, or nobody can tell.
        case unknown
    }

    /// Follows `path` with every link in it and says where it leads; nothing is opened for use.
    package borrowing func resolution(of path: ByteString) -> Resolution {
        let rawValue = rawValue
        let descriptor = path.withPath { unsafe migration_resolve_beneath(rawValue, $0) }
        if descriptor >= 0 {
            _ = Glibc.close(descriptor)
            return .inside
        }
        return errno == EXDEV ? .outside : .unknown
    }

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
