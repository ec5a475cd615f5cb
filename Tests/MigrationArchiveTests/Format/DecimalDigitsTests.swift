import Testing

@testable import MigrationArchive

struct DecimalDigitsTests {
    @Test(arguments: [0, 1, 9, 10, 11, 99, 100, 101, 999_999_999, 1_000_000_000, UInt64.max])
    func `writes numbers as strings of them say`(_ number: UInt64) {
        var text = [UInt8]("n=".utf8)
        text.append(decimal: number)
        #expect(text == [UInt8]("n=\(number)".utf8))
        #expect(number.decimalDigits == String(number).utf8.count)
    }
}
