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
}
