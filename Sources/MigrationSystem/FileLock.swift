internal import CMigrationShims
internal import Glibc

extension FileDescriptor {
    /// How a directory is locked.
    package enum LockMode: Sendable {
        /// Shared with others.
        case shared
        /// Exclusively.
        case exclusive
    }

    /// Locks the open file without waiting; the lock ends with the last copy of the descriptor.
    ///
    /// - Throws: ``SystemError`` that ``SystemError/isBusy`` if the lock is held.
    package borrowing func lock(_ mode: LockMode) throws(SystemError) {
        let rawValue = rawValue
        let operation = mode == .shared ? LOCK_SH : LOCK_EX
        _ = try retryingOnInterrupt("flock") { flock(rawValue, operation | LOCK_NB) }
    }

    /// Unlocks now, even if a process that was just started has a copy of the descriptor.
    package borrowing func unlock() {
        _ = migration_remove_marks(rawValue)
        _ = flock(rawValue, LOCK_UN)
    }

    // MARK: - Marks

    /// Sets mark number `number` on the open file, beside those of others; it ends like the lock.
    package borrowing func mark(_ number: Int) throws(SystemError) {
        let rawValue = rawValue
        _ = try retryingOnInterrupt("fcntl") { migration_mark(rawValue, number) }
    }

    /// Whether another descriptor has set mark number `number` on the open file.
    package borrowing func isMarkedElsewhere(_ number: Int) throws(SystemError) -> Bool {
        let rawValue = rawValue
        return try retryingOnInterrupt("fcntl") {
            migration_is_marked_elsewhere(rawValue, number)
        } == 1
    }

    // MARK: - Holders

    /// The processes that hold a lock on the file of `identity`, as far as the system shows them.
    ///
    /// The system shows the process that took the lock. If that one has ended, a process that it
    /// started still has the lock, but the system doesn't show which.
    package static func lockHolders(of identity: FileStatus.Identity) -> [Int32] {
        // Without this file, messages name no process.
        guard let locks = try? openFollowingLinks(locksPath, .reading),
            let bytes = try? locks.readAll(limit: 16 << 20)
        else { return [] }
        let file = text(of: identity)
        var holders: [Int32] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            // "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5351272 0 EOF"; waiting processes have an arrow in front.
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5] == file,
                let process = Int32(fields[4]), process > 0, kill(process, 0) == 0 || errno == EPERM
            else { continue }
            holders.append(process)
        }
        return holders.sorted()
    }

    private static let locksPath: BytePath = "/proc/locks"

    /// A file as `/proc/locks` names it: the device's numbers in hexadecimal, and the inode.
    private static func text(of identity: FileStatus.Identity) -> String {
        let device = identity.device
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        let numbers = [major, minor].map { number in
            (number < 16 ? "0" : "") + String(number, radix: 16)
        }
        return "\(numbers[0]):\(numbers[1]):\(identity.inode)"
    }
}
