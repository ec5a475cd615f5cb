import MigrationSystem
import Testing

@testable import MigrationArchive

struct PaxTimeTests {
    @Test(
        arguments: [
            (0, "0"), (12, "12"), (-1, "-1"), (-62_135_596_800, "-62135596800"),
            (.max, "9223372036854775807"), (.min, "-9223372036854775808"),
        ] as [(Int64, String)]
    )
    func `writes whole seconds in one way and reads them back`(_ seconds: Int64, _ text: String) {
        #expect(PaxTime.encode(seconds: seconds) == [UInt8](text.utf8))
        #expect(PaxTime.decode([UInt8](text.utf8)) == FileTime(seconds: seconds))
    }

    @Test(arguments: [
        (FileTime(seconds: 0, nanoseconds: 1), "0.000000001"),
        (FileTime(seconds: 12, nanoseconds: 340_000_000), "12.34"),
        (FileTime(seconds: -1, nanoseconds: 999_999_999), "-0.000000001"),
        (FileTime(seconds: -2, nanoseconds: 500_000_000), "-1.5"),
        (FileTime(seconds: -62_135_596_800, nanoseconds: 7), "-62135596799.999999993"),
        (FileTime(seconds: .max, nanoseconds: 999_999_999), "9223372036854775807.999999999"),
        (FileTime(seconds: .min, nanoseconds: 1), "-9223372036854775807.999999999"),
    ])
    func `reads fractions, which other programs write`(_ time: FileTime, _ text: String) {
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
}
