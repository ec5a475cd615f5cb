internal import Glibc

extension FileDescriptor {
    /// How a directory is locked.
    package enum LockMode: Sendable {
        /// Together with others who share it.
        case shared
        /// Alone.
        case exclusive
    }

    /// Locks the open file without waiting; the lock ends with the last copy of the descriptor.
    ///
    /// - Throws: ``SystemError`` that ``SystemError/isBusy`` where somebody holds it.
    package borrowing func lock(_ mode: LockMode) throws(SystemError) {
        let rawValue = rawValue
        let operation = mode == .shared ? LOCK_SH : LOCK_EX
        _ = try retryingOnInterrupt("flock") { flock(rawValue, operation | LOCK_NB) }
    }

    /// Gives the lock back now, even where a process that was just started has a copy of the descriptor.
    package borrowing func unlock() {
        _ = flock(rawValue, LOCK_UN)
    }
}
