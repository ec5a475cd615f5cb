extension UInt64 {
    /// How many digits the number has when it is written in decimal.
    var decimalDigits: Int {
        var (rest, count) = (self / 10, 1)
        while rest > 0 {
            rest /= 10
            count += 1
        }
        return count
    }
}

extension [UInt8] {
    /// Appends the digits of `number` without making a string of them.
    mutating func append(decimal number: UInt64) {
        let start = count
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: number.decimalDigits))
        var (rest, index) = (number, count)
        while index > start {
            index -= 1
            self[index] += UInt8(rest % 10)
            rest /= 10
        }
    }
}
