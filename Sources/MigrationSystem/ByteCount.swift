/// A number of bytes, shown in decimal units with one digit after the point.
package struct ByteCount: Hashable, Sendable, CustomStringConvertible {
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }

    package var description: String {
        guard value >= 1000 else { return "\(value) B" }
        var unit: UInt64 = 1000
        var names = ["kB", "MB", "GB", "TB", "PB", "EB"][...]
        // A value that rounds to 1000.0 of one unit is 1.0 of the next.
        while names.count > 1, value / unit >= 1000 || tenths(of: unit) >= 10_000 {
            unit *= 1000
            names = names.dropFirst()
        }
        let tenths = tenths(of: unit)
        return "\(tenths / 10).\(tenths % 10) \(names[names.startIndex])"
    }

    private func tenths(of unit: UInt64) -> UInt64 {
        let (whole, rest) = value.quotientAndRemainder(dividingBy: unit)
        return whole * 10 + (rest + unit / 20) / (unit / 10)
    }
}
