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
