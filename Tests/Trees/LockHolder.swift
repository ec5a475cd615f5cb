import Glibc

/// Holds a lock on a file or directory, as another process would: locks belong to the open file.
package final class LockHolder {
    private var descriptor: Int32

    /// Takes the lock that `flock` calls `operation`, without waiting.
    package init(_ path: BytePath, _ operation: Int32) throws {
        descriptor = path.withPointer { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw CallFailure("open \(path)") }
        guard flock(descriptor, operation | LOCK_NB) == 0 else {
            throw CallFailure("flock \(path)")
        }
    }

    /// Locks the container at `path` as a running app does, which readers must not do meanwhile.
    public convenience init(asAppOf path: BytePath) throws {
        try self.init(path, LOCK_SH)
        // F_OFD_GETLK and F_OFD_SETLK, which Glibc's module lacks.
        let (readers, app) = (Self.range(F_WRLCK, at: 1), Self.range(F_RDLCK, at: 0))
        var range = app
        guard fcntl(descriptor, 37, &range) == 0 else { throw CallFailure("fcntl \(path)") }
        range = readers
        guard fcntl(descriptor, 36, &range) == 0, range.l_type == F_UNLCK else {
            throw CallFailure("fcntl \(path)")
        }
    }

    private static func range(_ type: Int32, at start: Int) -> flock {
        var range = flock()
        range.l_type = Int16(type)
        range.l_start = start
        range.l_len = 1
        return range
    }

    /// Gives the lock back.
    package func release() {
        guard descriptor >= 0 else { return }
        flock(descriptor, LOCK_UN)
        close(descriptor)
        descriptor = -1
    }

    deinit { release() }
}

@available(*, unavailable)
extension LockHolder: Sendable {}
