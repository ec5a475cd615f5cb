import Testing

@testable import MigrationReports

struct ProgressLineTests {
    private let line = ProgressLine(
        completed: 35_400_000,
        total: 84_200_000,
        bytesPerSecond: 12_000_000
    )

    @Test(arguments: [
        (
            120,
            "[################------------------------]  42 %  35.4 MB of 84.2 MB  12.0 MB/s  0:05 left"
        ),
        (80, "[############-----------------]  42 %  35.4 MB of 84.2 MB  12.0 MB/s  0:05 left"),
        (50, "42 %  35.4 MB of 84.2 MB  12.0 MB/s  0:05 left"),
        (40, "42 %  35.4 MB of 84.2 MB  12.0 MB/s"),
        (30, "42 %  35.4 MB of 84.2 MB"), (10, "42 %"), (4, ""), (0, ""),
    ])
    func `leaves out what does not fit`(_ columns: Int, _ text: String) {
        #expect(line.bar(columns: columns) == text)
    }

    @Test(arguments: 0...200)
    func `never fills the last column`(_ columns: Int) {
        let unknown = ProgressLine(completed: 5, total: nil, bytesPerSecond: 0)
        for line in [line, unknown] {
            #expect(line.bar(columns: columns).count <= max(columns - 1, 0))
        }
    }

    @Test func `writes a line for a log`() {
        #expect(line.plain == "35.4 MB of 84.2 MB (42 %), 12.0 MB/s, 0:05 left")
        let unknown = ProgressLine(completed: 5000, total: nil, bytesPerSecond: 10)
        #expect(unknown.plain == "5.0 kB, 10 B/s")
    }

    @Test(
        arguments: [
            (0, 1000, 1, "16:40 left"), (0, 7322, 1, "2:02:02 left"), (2000, 1000, 1, "0:00 left"),
            (0, 360_000, 1, nil), (0, 10, 0, nil),
        ] as [(UInt64, UInt64, Double, String?)]
    )
    func `tells the time left`(
        _ completed: UInt64,
        _ total: UInt64,
        _ rate: Double,
        _ text: String?
    ) {
        let line = ProgressLine(completed: completed, total: total, bytesPerSecond: rate)
        #expect(line.plain.split(separator: ", ").dropFirst(2).first.map(String.init) == text)
    }

    @Test func `measures the rate of the last seconds`() {
        let start = ContinuousClock.now
        var meter = ProgressMeter(at: start)
        var line = meter.advance(to: 1000, of: 10_000, at: start + .seconds(1))
        #expect(line == ProgressLine(completed: 1000, total: 10_000, bytesPerSecond: 1000))
        for second in 2...20 {
            line = meter.advance(to: 1000, of: 10_000, at: start + .seconds(second))
        }
        #expect(line.bytesPerSecond == 0)
        line = meter.advance(to: 1500, of: -1, at: start + .seconds(25))
        #expect(line == ProgressLine(completed: 1500, total: nil, bytesPerSecond: 100))
    }

    @Test func `takes any numbers that an extension may report`() {
        let counts: [Int64] = [.max, .min, 0, -1]
        let start = ContinuousClock.now
        var meter = ProgressMeter(at: start)
        var time = start
        for total in counts {
            for completed in counts {
                time = time.advanced(by: .nanoseconds(1))
                let line = meter.advance(to: completed, of: total, at: time)
                #expect(line.plain.hasSuffix("/s") || line.plain.hasSuffix("left"))
                #expect(line.bar(columns: 80).count < 80)
            }
        }
    }

    @Test func `shows a bar by itself only on a terminal`() {
        #expect(ProgressMode.auto.style(onTerminal: true) == .bar)
        #expect(ProgressMode.auto.style(onTerminal: false) == nil)
        #expect(ProgressMode.bar.style(onTerminal: false) == .bar)
        #expect(ProgressMode.plain.style(onTerminal: true) == .lines)
        #expect(ProgressMode.none.style(onTerminal: true) == nil)
    }
}
