internal import MigrationSystem

/// Times as pax records write them: decimal seconds with a fraction, negative before 1970.
enum PaxTime {
    /// The shortest decimal that says `time` exactly.
    static func encode(_ time: FileTime) -> [UInt8] {
        var (seconds, nanoseconds) = (time.seconds, time.nanoseconds)
        let isNegative = seconds < 0
        if isNegative && nanoseconds > 0 {
            seconds += 1
            nanoseconds = 1_000_000_000 - nanoseconds
        }
        var text: [UInt8] = []
        text.reserveCapacity(32)
        if isNegative { text.append(UInt8(ascii: "-")) }
        text.append(decimal: UInt64(seconds.magnitude))
        guard nanoseconds > 0 else { return text }
        text.append(UInt8(ascii: "."))
        var unit: UInt32 = 100_000_000
        while nanoseconds > 0 {
            text.append(UInt8(ascii: "0") + UInt8(nanoseconds / unit))
            nanoseconds %= unit
            unit /= 10
        }
        return text
    }

    /// Reads a time; the result is `nil` where the text is none.
    ///
    /// Digits beyond nanoseconds are dropped, toward the past.
    static func decode(_ text: [UInt8]) -> FileTime? {
        var digits = text[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        let whole = digits.prefix { $0 != UInt8(ascii: ".") }
        let rest = digits.dropFirst(whole.count)
        guard let seconds = number(whole), !(rest.count == 1 && whole.isEmpty) else { return nil }
        let (fraction, hasMore) = fraction(rest.dropFirst())
        guard let fraction else { return nil }
        if !isNegative {
            return Int64(exactly: seconds).map { FileTime(seconds: $0, nanoseconds: fraction) }
        }
        let total = fraction + (hasMore ? 1 : 0)
        // Counted down from -1, so that the least number of seconds needs no room beyond it.
        let (steps, forward) = total == 0 ? (seconds, 0) : (seconds + 1, 1_000_000_000 - total)
        guard steps > 0 else { return FileTime(seconds: 0) }
        return Int64(exactly: steps - 1).map { FileTime(seconds: -1 - $0, nanoseconds: forward) }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        return value
    }

    private static func fraction(_ digits: ArraySlice<UInt8>) -> (UInt32?, hasMore: Bool) {
        var value: UInt32 = 0
        var count = 0
        var hasMore = false
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return (nil, false) }
            if count < 9 {
                value = value * 10 + UInt32(digit)
                count += 1
            } else if digit > 0 {
                hasMore = true
            }
        }
        while count < 9 {
            value *= 10
            count += 1
        }
        return (value, hasMore)
    }
}
