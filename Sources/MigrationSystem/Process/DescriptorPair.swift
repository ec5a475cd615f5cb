internal import CMigrationShims
internal import Glibc

/// The two ends of a pipe or of a pair of sockets, one of which goes to another process.
struct DescriptorPair: ~Copyable {
    let ours: FileDescriptor
    let theirs: FileDescriptor

    private init(_ ends: [CInt]) {
        ours = FileDescriptor(adopting: ends[0])
        theirs = FileDescriptor(adopting: ends[1])
    }

    /// Makes a pipe that they write to and we read from.
    static func pipe() throws(SystemError) -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        guard unsafe migration_make_pipe(&ends) == 0 else { throw SystemError("pipe2") }
        return DescriptorPair(ends)
    }

    /// Makes a pair of connected stream sockets.
    static func sockets() throws(SystemError) -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        guard unsafe migration_make_sockets(&ends) == 0 else { throw SystemError("socketpair") }
        return DescriptorPair(ends)
    }
}

extension FileDescriptor {
    /// Makes reads and writes fail with an error that ``SystemError/isBusy`` where they would wait.
    borrowing func stopWaiting() throws(SystemError) {
        let flags = fcntl(rawValue, F_GETFL)
        guard flags >= 0, fcntl(rawValue, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemError("fcntl")
        }
    }
}
