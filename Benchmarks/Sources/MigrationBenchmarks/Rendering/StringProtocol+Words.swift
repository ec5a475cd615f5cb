extension StringProtocol {
    /// The words between blanks.
    var words: [String] {
        split(whereSeparator: \.isWhitespace).map { String($0) }
    }
}

extension Array where Element == String {
    /// The names as a sentence lists them.
    var sentence: String {
        guard let last, count > 1 else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) and \(last)"
    }
}
