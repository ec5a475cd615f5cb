/// A number of things, shown with a comma between each three digits.
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

    /// The number with the thing that is counted, such as `1 file` or `1,204 files`.
    func of(_ singular: String, _ plural: String) -> String {
        "\(self) \(value == 1 ? singular : plural)"
    }
}
