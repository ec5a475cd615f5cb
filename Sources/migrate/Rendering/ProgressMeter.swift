/// Follows how fast the bytes go by, over the last seconds.
struct ProgressMeter: Sendable {
    private struct Sample: Sendable {
        let time: ContinuousClock.Instant
        let bytes: Int64
    }

    private static let window = Duration.seconds(5)

    private var samples: [Sample]

    /// Starts at `time`, with no bytes done.
    init(at time: ContinuousClock.Instant) {
        samples = [Sample(time: time, bytes: 0)]
    }

    /// Notes that `completed` of `total` bytes are done at `time`, and says how that looks.
    mutating func advance(
        to completed: Int64,
        of total: Int64,
        at time: ContinuousClock.Instant
    ) -> ProgressLine {
        samples.append(Sample(time: time, bytes: completed))
        let recent = samples.firstIndex { $0.time >= time - Self.window } ?? 0
        samples.removeFirst(min(recent, samples.count - 2))
        let elapsed = (time - samples[0].time) / .seconds(1)
        let bytes = Double(completed) - Double(samples[0].bytes)
        return ProgressLine(
            completed: UInt64(max(completed, 0)),
            total: total > 0 ? UInt64(total) : nil,
            bytesPerSecond: elapsed > 0 ? max(bytes / elapsed, 0) : 0
        )
    }
}
