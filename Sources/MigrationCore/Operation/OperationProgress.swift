public import Foundation
internal import MigrationSystem

/// The progress of an operation, as a sequence of updates to await.
///
/// Pass one to an export or an import, and iterate over ``updates`` in another task. The sequence
/// ends with the operation:
///
///     let progress = MigrationProgress()
///     async let report = MigrationHost().export(container, to: .file(archive), progress: progress)
///     for await update in progress.updates {
///         print(update.fractionCompleted ?? 0)
///     }
///     print(try await report.totals.files)
///
/// Use a new one for each operation. Code that needs Foundation's `Progress` can use it as one.
public final class MigrationProgress: Progress, @unchecked Sendable {
    // Safe because the state of this class is behind a lock, and Foundation guards the rest.

    /// The state of an operation at one time.
    public struct Update: Hashable, Sendable {
        /// The bytes that are done, or the units of an extension that imports.
        public let completedUnitCount: Int64

        /// The total; `nil` while it is unknown.
        public let totalUnitCount: Int64?

        /// The part that is done, from 0 to 1; `nil` while the total is unknown.
        public var fractionCompleted: Double? {
            totalUnitCount.map { min(1, Double(completedUnitCount) / Double($0)) }
        }
    }

    private struct State {
        var last = Update(completedUnitCount: 0, totalUnitCount: nil)
        var continuations: [AsyncStream<Update>.Continuation] = []
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Makes the progress of an operation that has not begun.
    public init() {
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = -1
    }

    /// The updates from now on, until the operation ends.
    ///
    /// The first one is the current state. A task that is slower than the operation gets the latest
    /// update and misses earlier ones. Each use of this property makes a new sequence.
    public var updates: some AsyncSequence<Update, Never> & Sendable {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Update.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { state in
            continuation.yield(state.last)
            if state.hasEnded {
                continuation.finish()
            } else {
                state.continuations.append(continuation)
            }
        }
        return stream
    }

    /// The number of completed units.
    override public var completedUnitCount: Int64 {
        didSet { publish() }
    }

    /// The number of units in total; -1 while it is unknown.
    override public var totalUnitCount: Int64 {
        didSet { publish() }
    }

    private func publish() {
        let update = Update(
            completedUnitCount: completedUnitCount,
            totalUnitCount: totalUnitCount > 0 ? totalUnitCount : nil
        )
        state.withLock { state in
            guard update != state.last else { return }
            state.last = update
            for continuation in state.continuations { continuation.yield(update) }
        }
    }

    fileprivate func end() {
        state.withLock { state in
            state.hasEnded = true
            for continuation in state.continuations { continuation.finish() }
            state.continuations = []
        }
    }
}

extension Progress {
    /// The largest count to show.
    ///
    /// Much larger ones overflow Foundation's fractions, which crashes the process on Linux.
    package static let largestCount: Int64 = 1 << 53

    /// Sets the total; a total of 0 or less counts as unknown.
    package func setTotal(_ total: Int64) {
        // Foundation on Linux crashes if a positive total becomes 0.
        totalUnitCount = total > 0 ? min(total, Self.largestCount) : -1
    }

    /// Ends the updates of a ``MigrationProgress`` with its operation.
    package func endUpdates() {
        (self as? MigrationProgress)?.end()
    }

    /// Shows a known total as done.
    package func finish() {
        if totalUnitCount > 0 { completedUnitCount = totalUnitCount }
    }

    /// Completes the progress at `total` units, or at one unit if there are none.
    package func complete(of total: Int64) {
        setTotal(max(total, 1))
        completedUnitCount = totalUnitCount
    }
}
