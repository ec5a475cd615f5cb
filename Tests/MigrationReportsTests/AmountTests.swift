import Foundation
import MigrationSystem
import Testing

@testable import MigrationReports

struct AmountTests {
    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"),
            (1050, "1.1 kB"), (84_249_999, "84.2 MB"), (999_949, "999.9 kB"),
            (999_950, "1.0 MB"), (999_999_999, "1.0 GB"), (3_210_000_000, "3.2 GB"),
            (.max, "18.4 EB"),
        ] as [(UInt64, String)]
    )
    func `shows sizes in decimal units`(_ bytes: UInt64, _ text: String) {
        #expect("\(ByteCount(bytes))" == text)
    }

    @Test(
        arguments: [
            (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1204, "1,204"),
            (1_000_042, "1,000,042"), (.max, "18,446,744,073,709,551,615"),
        ] as [(UInt64, String)]
    )
    func `separates thousands`(_ count: UInt64, _ text: String) {
        #expect("\(GroupedCount(count))" == text)
    }

    @Test func `pads a number, and never cuts it`() {
        #expect(padded(7, to: 3) == "007")
        #expect(padded(123, to: 3) == "123")
        #expect(padded(1234, to: 3) == "1234")
    }

    @Test func `counts one thing as one`() {
        #expect(GroupedCount(1).of("file", "files") == "1 file")
        #expect(GroupedCount(0).of("file", "files") == "0 files")
        #expect(percentage(31, of: 84) == "37 %")
        #expect(percentage(31, of: 0) == nil)
        #expect(percentage(31, of: 30) == nil)
    }

    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (1_709_210_096, 7, "2024-02-29T12:34:56.000000007Z"),
            (253_402_300_800, 0, "10000-01-01T00:00:00.000000000Z"),
            (.max, 1, "@9223372036854775807.000000001"),
        ] as [(Int64, UInt32, String)]
    )
    func `shows times in UTC`(_ seconds: Int64, _ nanoseconds: UInt32, _ text: String) {
        let time = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        #expect(Timestamp(time).universalNanoseconds == text)
    }

    @Test func `shows local time to the minute`() throws {
        let date = Date(timeIntervalSince1970: 1_709_210_096.5)
        let parts = Calendar(identifier: .gregorian).dateComponents(
            in: .current,
            from: date
        )
        let (hour, minute) = (try #require(parts.hour), try #require(parts.minute))
        let text = Timestamp(date).localMinutes
        #expect(text.hasPrefix("2024-02-"))
        #expect(text.hasSuffix(" \(padded(hour, to: 2)):\(padded(minute, to: 2))"))
        #expect(Timestamp(date).localSeconds == text + ":56")
        #expect(Timestamp(date).universalSeconds == "2024-02-29T12:34:56Z")
    }
}
