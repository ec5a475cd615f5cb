import MigrationSystem
import Testing

@testable import MigrationArchive

struct PaxTimeTests {
    @Test(arguments: [
        (FileTime(seconds: 0), "0"),
        (FileTime(seconds: 0, nanoseconds: 1), "0.000000001"),
        (FileTime(seconds: 12, nanoseconds: 340_000_000), "12.34"),
        (FileTime(seconds: -1), "-1"),
        (FileTime(seconds: -1, nanoseconds: 999_999_999), "-0.000000001"),
        (FileTime(seconds: -2, nanoseconds: 500_000_000), "-1.5"),
        (FileTime(seconds: -62_135_596_800, nanoseconds: 7), "-62135596799.999999993"),
        (FileTime(seconds: .max, nanoseconds: 999_999_999), "9223372036854775807.999999999"),
        (FileTime(seconds: .min), "-9223372036854775808"),
        (FileTime(seconds: .min, nanoseconds: 1), "-9223372036854775807.999999999"),
    ])
    func `writes a time in one way and reads it back`(_ time: FileTime, _ text: String) {
        #expect(PaxTime.encode(time) == [UInt8](text.utf8))
        #expect(PaxTime.decode([UInt8](text.utf8)) == time)
    }

    @Test(arguments: [
        ("1.0000000009", FileTime(seconds: 1)),
        ("1.9999999999", FileTime(seconds: 1, nanoseconds: 999_999_999)),
        ("-1.0000000001", FileTime(seconds: -2, nanoseconds: 999_999_999)),
        ("-1.9999999999", FileTime(seconds: -2)),
        ("1.", FileTime(seconds: 1)), ("-0", FileTime(seconds: 0)), ("007", FileTime(seconds: 7)),
        ("1.50", FileTime(seconds: 1, nanoseconds: 500_000_000)),
    ])
    func `drops what is finer than nanoseconds toward the past`(_ text: String, _ time: FileTime) {
        #expect(PaxTime.decode([UInt8](text.utf8)) == time)
    }

    @Test(arguments: [
        "", "-", ".", "-.", ".5", "1.2.3", "1e3", "+1", "--1", " 1", "1 ", "1.x", "x", "1.-5",
        "9223372036854775808", "-9223372036854775809", "-9223372036854775808.5",
        "99999999999999999999", "1,5",
    ])
    func `refuses what is no time`(_ text: String) {
        #expect(PaxTime.decode([UInt8](text.utf8)) == nil)
    }

    @Test func `reads back times around every second from -3 to 3`() {
        for seconds in Int64(-3)...3 {
            for nanoseconds in [0, 1, 10, 499_999_999, 500_000_000, 999_999_990, 999_999_999] {
                let time = FileTime(seconds: seconds, nanoseconds: UInt32(nanoseconds))
                #expect(PaxTime.decode(PaxTime.encode(time)) == time)
            }
        }
    }
}
