internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// The events of an extension's session, with their times.
///
/// Times are in seconds since the session began; the time for which the machine slept does not
/// count. A timeline stays small, however long the session is, because neighboring appends are
/// joined.
public struct SessionTimeline: Sendable, Codable, Equatable {
    /// Items that the extension appended one after the other.
    public struct Append: Sendable, Codable, Equatable {
        /// When the first one was received.
        public let start: Double

        /// When the last one was accepted.
        ///
        /// Files of the container are only noted then, and read later.
        public let end: Double

        /// The printable name of the largest one in the archive.
        public let name: String

        /// The number of items.
        public let count: Int

        /// The bytes of content.
        public let bytes: UInt64
    }

    /// A time during which the host waited for the extension.
    public struct Wait: Sendable, Codable, Equatable {
        /// When it began.
        public let start: Double

        /// When it ended.
        public let end: Double
    }

    /// The progress that the extension reported.
    public struct Step: Sendable, Codable, Equatable {
        /// When it was reported.
        public let time: Double

        /// The completed units.
        public let completed: Int64

        /// The total units.
        public let total: Int64
    }

    /// The limits of the session.
    public struct Limits: Sendable, Codable, Equatable {
        /// How long the extension may be silent.
        public let hangTimeout: Double

        /// How long a cancelled extension may take to end.
        public let gracePeriod: Double

        /// The maximum bytes of its temporary files.
        public let temporarySpace: UInt64

        /// The requested maximum bytes of memory; `nil` means the default.
        public let memoryLimit: UInt64?
    }

    /// The name of the extension, or of its program if the extension did not give its name.
    public let name: String

    /// How long the session took.
    public let seconds: Double

    /// How many items were appended.
    public let appendCount: Int

    /// The bytes of content in them.
    public let appendedBytes: UInt64

    /// The appends in their order, at most 1,000, each of one item or of neighbors.
    public let appends: [Append]

    /// The longest waits, at most 20, in their order.
    public let waits: [Wait]

    /// The progress of an import, at most 1,000 steps.
    public let progress: [Step]

    /// The limits of the session.
    public let limits: Limits
}

/// Collects a timeline in constant memory.
struct TimelineRecorder {
    private struct Group {
        let start: Double
        var end: Double
        var name: [UInt8]
        var largest: UInt64
        var count = 1
        var bytes: UInt64

        mutating func join(_ other: Group) {
            end = other.end
            count += other.count
            bytes.addSaturating(other.bytes)
            guard other.largest > largest else { return }
            (largest, name) = (other.largest, other.name)
        }
    }

    /// The maximum number of groups and steps of a timeline; at twice as many, neighbors are
    /// joined.
    private static let limit = 1000
    private static let waitLimit = 20
    /// Shorter waits aren't worth showing.
    private static let shortestWait = 0.01

    private var appends: [Group] = []
    private var groupSize = 1
    private var steps: [SessionTimeline.Step] = []
    private var waits: [SessionTimeline.Wait] = []
    private var appendCount = 0
    private var appendedBytes: UInt64 = 0
    /// When the host last stopped waiting or taking an item.
    private var lastEnd = 0.0

    mutating func noteAppend(of bytes: UInt64, _ name: [UInt8], from start: Double, to end: Double)
    {
        appendCount += 1
        lastEnd = end
        appendedBytes.addSaturating(bytes)
        let group = Group(start: start, end: end, name: name, largest: bytes, bytes: bytes)
        if let last = appends.indices.last, appends[last].count < groupSize {
            appends[last].join(group)
            return
        }
        appends.append(group)
        guard appends.count > 2 * Self.limit else { return }
        joinNeighbors()
    }

    private mutating func joinNeighbors() {
        var joined: [Group] = []
        for (index, group) in appends.enumerated() {
            if index.isMultiple(of: 2) {
                joined.append(group)
            } else {
                joined[index / 2].join(group)
            }
        }
        appends = joined
        groupSize *= 2
    }

    mutating func noteWait(from start: Double, to end: Double) {
        let start = max(start, lastEnd)
        lastEnd = end
        guard end - start >= Self.shortestWait else { return }
        waits.append(SessionTimeline.Wait(start: start, end: end))
        guard waits.count > Self.waitLimit,
            let shortest = waits.indices.min(by: { waits[$0].length < waits[$1].length })
        else { return }
        waits.remove(at: shortest)
    }

    mutating func noteProgress(_ completed: Int64, of total: Int64, at time: Double) {
        if let last = steps.last, (last.completed, last.total) == (completed, total) { return }
        steps.append(SessionTimeline.Step(time: time, completed: completed, total: total))
        guard steps.count > 2 * Self.limit else { return }
        // The last one is the final state.
        steps = steps.enumerated().compactMap { $0.offset.isMultiple(of: 2) ? $0.element : nil }
    }

    /// The timeline so far of a session with the extension of this name and these terms.
    func timeline(
        of name: String,
        on terms: MigrationExtension,
        after seconds: Double
    ) -> SessionTimeline {
        var recorder = self
        if recorder.appends.count > Self.limit { recorder.joinNeighbors() }
        var steps = recorder.steps
        if steps.count > Self.limit {
            let last = steps.count - 1
            steps = steps.enumerated()
                .filter { $0.offset == last || !$0.offset.isMultiple(of: 2) }.map(\.element)
        }
        return SessionTimeline(
            name: name,
            seconds: seconds,
            appendCount: appendCount,
            appendedBytes: appendedBytes,
            appends: recorder.appends.map { group in
                SessionTimeline.Append(
                    start: group.start,
                    end: group.end,
                    name: PrintableText.escaping(group.name),
                    count: group.count,
                    bytes: group.bytes
                )
            },
            waits: waits,
            progress: steps,
            limits: SessionTimeline.Limits(
                hangTimeout: terms.hangTimeout / .seconds(1),
                gracePeriod: terms.gracePeriod / .seconds(1),
                temporarySpace: terms.temporarySpace,
                memoryLimit: terms.memoryLimit
            )
        )
    }
}

extension SessionTimeline.Wait {
    fileprivate var length: Double { end - start }
}
