/// A point in time as file systems keep it: seconds since 1970 and nanoseconds after them.
public struct FileTime: Hashable, Sendable, Comparable {
    /// Whole seconds since 1970-01-01 UTC, negative before it.
    public let seconds: Int64

    /// Nanoseconds after `seconds`, from 0 to 999,999,999.
    public let nanoseconds: UInt32

    /// Makes a time; `nanoseconds` counts forward even when `seconds` is negative.
    public init(seconds: Int64, nanoseconds: UInt32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Orders times from the past to the future.
    public static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension FileTime {
    /// The seconds since 1970 with nine decimal places, as they may be printed.
    package var decimal: String {
        var (whole, fraction) = (seconds, Int64(nanoseconds))
        let isNegative = seconds < 0
        if isNegative && fraction > 0 { (whole, fraction) = (whole + 1, 1_000_000_000 - fraction) }
        let digits = String(fraction)
        let padding = String(repeating: "0", count: 9 - digits.count)
        return "\(isNegative ? "-" : "")\(whole.magnitude).\(padding)\(digits)"
    }
}
