/// A number of things, shown with a comma after every three digits.
struct GroupedCount: Hashable, Sendable, CustomStringConvertible {
    let value: UInt64

    init(_ value: some BinaryInteger) {
        self.value = UInt64(clamping: value)
    }

    var description: String {
        var groups: [String] = []
        var rest = value
        while rest >= 1000 {
            groups.append(padded(rest % 1000, to: 3))
            rest /= 1000
        }
        return ([String(rest)] + groups.reversed()).joined(separator: ",")
    }

    /// The number with the name of the things, such as `1 file` or `1,204 files`.
    func of(_ singular: String, _ plural: String) -> String {
        "\(self) \(value == 1 ? singular : plural)"
    }
}

/// A share of a whole in percent, such as `37 %`; `nil` if it is larger than the whole.
func percentage(_ part: UInt64, of whole: UInt64) -> String? {
    guard whole > 0, part <= whole else { return nil }
    return "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
}

/// A number in decimal digits, with zeros before it up to `width`.
func padded(_ number: some BinaryInteger, to width: Int) -> String {
    let digits = String(number)
    guard digits.utf8.count < width else { return digits }
    return String(repeating: "0", count: width - digits.utf8.count) + digits
}
