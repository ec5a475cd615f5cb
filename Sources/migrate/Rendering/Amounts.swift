/// A share of a whole in percent, such as `37 %`.
func percentage(_ part: UInt64, of whole: UInt64) -> String? {
    guard whole > 0 else { return nil }
    return "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
}

/// A number in decimal digits, with zeros before it up to `width`.
func padded(_ number: some BinaryInteger, to width: Int) -> String {
    let digits = String(number)
    guard digits.utf8.count < width else { return digits }
    return String(repeating: "0", count: width - digits.utf8.count) + digits
}
