import MigrationSystem
import Testing

@testable import MigrationReports

struct LocalClockTests {
    private func shown(_ seconds: Int64, by clock: LocalClock) -> String {
        var text: [UInt8] = []
        clock.append(FileTime(seconds: seconds), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func universalParts(_ seconds: Int64) -> CalendarTime? {
        CalendarTime(universal: FileTime(seconds: seconds))
    }

    @Test(
        arguments: [
            .min, -2_422_051_608, -1, 0, 1_709_164_800, 1_709_210_096, 1_711_846_800,
            253_402_300_800, .max,
        ] as [Int64]
    )
    func `shows a time as a timestamp does`(_ time: Int64) {
        let clock = LocalClock()
        for offset in stride(from: Int64(-2000), through: 2000, by: 17) {
            let (seconds, overflows) = time.addingReportingOverflow(offset)
            if overflows { continue }
            let expected = Timestamp(FileTime(seconds: seconds)).localMinutes
            #expect(shown(seconds, by: clock) == expected)
        }
    }

    /// From the second 1,000 on, the clock shows `change` seconds more.
    @Test(arguments: [3600, -3600, 60, -1172, 1, 86_400] as [Int64])
    func `follows a clock that is changed within a quarter of an hour`(_ change: Int64) {
        @Sendable func parts(_ time: FileTime) -> CalendarTime? {
            Self.universalParts(time.seconds + (time.seconds < 1000 ? 0 : change))
        }
        let clock = LocalClock(parts: parts)
        for seconds in Int64(0)..<3000 {
            let expected = parts(FileTime(seconds: seconds)).map(Timestamp.minutes)
            #expect(shown(seconds, by: clock) == expected)
        }
    }

    @Test func `shows the day that begins within a quarter of an hour`() {
        let clock = LocalClock { Self.universalParts($0.seconds - 300) }
        #expect(shown(86_400 + 299, by: clock) == "1970-01-01 23:59")
        #expect(shown(86_400 + 300, by: clock) == "1970-01-02 00:00")
    }

    @Test func `asks once for the times of a quarter of an hour`() {
        let count = Monitor(0)
        let clock = LocalClock {
            count.withLock { $0 += 1 }
            return Self.universalParts($0.seconds)
        }
        for seconds in Int64(900)..<1800 { _ = shown(seconds, by: clock) }
        #expect(count.withLock { $0 } == 2)
    }
}
