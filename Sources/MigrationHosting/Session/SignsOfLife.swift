internal import MigrationCore
internal import MigrationSystem

/// An extension's activity that it doesn't report, from which the host concludes that it works.
///
/// Files that grow always count as work. Writing without taking more space, reading, and waiting
/// for a device may be work or a loop, so they count for a limited time. Processor time alone
/// doesn't count.
struct SignsOfLife {
    /// The activity of an extension at one time.
    struct Look {
        /// The minimum and maximum bytes that it may have written to files; `nil` if unknown.
        var written: ClosedRange<UInt64>?

        /// The bytes that it has read; `nil` if unknown.
        var read: UInt64?

        /// Whether it is in uninterruptible sleep, such as in `fsync`.
        var waitsForDevice = false

        /// The space of the files that it may change; `nil` if unknown.
        var room: UInt64?
    }

    /// How many limits an extension may take if it only reads, rewrites or waits for a device.
    static let patience = 10

    /// How many times it is observed during a limit.
    private static let looksInLimit = 4

    private let limit: Duration
    private let clock: () -> SuspendingClock.Instant
    private let look: () -> Look
    private var nextLook: SuspendingClock.Instant
    private var lastLook: SuspendingClock.Instant
    private var lastGrowth: SuspendingClock.Instant
    private var lastSign: SuspendingClock.Instant
    private var most = Look()

    /// Judges an extension that may be idle for `limit` and is observed by `look`.
    init(
        _ limit: Duration,
        by clock: @escaping () -> SuspendingClock.Instant = { .now },
        looking look: @escaping () -> Look
    ) {
        self.limit = limit
        self.clock = clock
        self.look = look
        let begin = clock()
        (nextLook, lastLook, lastGrowth, lastSign) = (begin, begin, begin, begin)
    }

    /// How an extension hangs.
    enum Hang {
        /// It does nothing at all.
        case idle
        /// Its work makes no progress.
        case fruitless
    }

    /// When to observe the extension next, which last reported something at `act`.
    func nextLook(after act: SuspendingClock.Instant) -> SuspendingClock.Instant {
        max(nextLook, act + limit / Self.looksInLimit)
    }

    /// Observes the extension if it's time; returns how it hangs, or `nil` if it may be working.
    mutating func check(after act: SuspendingClock.Instant) -> Hang? {
        let start = clock()
        guard start >= nextLook(after: act) else { return nil }
        note(look(), isFirst: act >= lastLook, at: start)
        let now = clock()
        lastLook = now
        let work = max(act, lastGrowth)
        let sign = max(work, lastSign)
        // If measuring takes long, most of the time must remain for other work.
        nextLook = max(
            min(now + limit / Self.looksInLimit, max(now, sign + limit)),
            now + max(.milliseconds(1), (now - start) * 10)
        )
        if now - sign > limit { return .idle }
        return now - work > limit * Self.patience ? .fruitless : nil
    }

    /// Notes the differences from earlier observations; the first one after a report of the
    /// extension shows none.
    private mutating func note(
        _ look: Look,
        isFirst: Bool,
        at now: SuspendingClock.Instant
    ) {
        let hasGrown = Self.exceeds(look.room, most.room)
        let hasWritten = Self.exceeds(look.written?.lowerBound, most.written?.upperBound)
        let hasRead = Self.exceeds(look.read, most.read)
        if look.waitsForDevice { lastSign = now }
        if !isFirst {
            if hasGrown { lastGrowth = now }
            if hasWritten || hasRead { lastSign = now }
        }
        most.room = max(look.room ?? 0, most.room ?? 0)
        most.read = max(look.read ?? 0, most.read ?? 0)
        let written = max(look.written?.upperBound ?? 0, most.written?.upperBound ?? 0)
        most.written = 0...written
    }

    private static func exceeds(_ now: UInt64?, _ before: UInt64?) -> Bool {
        guard let now, let before else { return false }
        return now > before
    }
}

// MARK: - Looking

extension SignsOfLife.Look {
    /// Observes an extension's process; the host has read `printed()` bytes of its output.
    init(
        at process: ChildProcess,
        printed: () -> UInt64,
        _ room: ExtensionRoom,
        on operation: MigrationOperation
    ) {
        // Printed bytes count as written too. The count can grow meanwhile, so there are two bounds.
        let before = printed() + process.waitingOutput
        if let activity = process.activity {
            let after = printed() + process.waitingOutput
            var all = activity.writtenByCalls
            all.addSaturating(activity.writtenToDisks)
            let least = all - min(all, after)
            written = least...max(least, all - min(all, before))
            read = activity.read
            waitsForDevice = activity.waitsForDevice
        }
        self.room = room.size(on: operation)
    }

    /// Observes an extension in this process that runs on the thread at `thread` of `/proc`.
    ///
    /// Its calls may also print, which can't be distinguished.
    init(atThread thread: BytePath?, _ room: ExtensionRoom, on operation: MigrationOperation) {
        if let activity = thread.flatMap({ ProcessActivity.ofThread(at: $0) }) {
            written = activity.writtenToDisks...activity.writtenToDisks
            read = activity.read
            waitsForDevice = activity.waitsForDevice
        }
        self.room = room.size(on: operation)
    }
}

/// The directories that an extension may fill.
struct ExtensionRoom {
    private let directories: [OpenFile]

    /// Opens those of `directories` that can be opened.
    init(in directories: SessionDirectories) {
        self.directories = directories.filled.compactMap { path in
            do throws(SystemError) {
                return OpenFile(try FileDescriptor.open(path, .directory))
            } catch {
                // A directory that can't be opened shows no growth.
                return nil
            }
        }
    }

    /// The space that everything in them takes; `nil` if it can't be measured.
    fileprivate func size(on operation: MigrationOperation) -> UInt64? {
        do throws(SystemError) {
            var size: UInt64 = 0
            for directory in directories {
                size.addSaturating(
                    try directory.descriptor.allocatedSize(upTo: .max, operation.cancellation)
                )
            }
            return size
        } catch {
            return nil
        }
    }
}
