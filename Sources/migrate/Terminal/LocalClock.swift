internal import MigrationSystem

/// Writes many points in time as local time to the minute.
///
/// Files are often changed soon after each other, so the clock remembers the last quarter of an hour.
final class LocalClock: Sendable {
    /// A quarter of an hour in which the local time runs evenly through one day.
    fileprivate struct Quarter {
        /// The seconds since 1970.
        let start: Int64
        /// The seconds from midnight to the start.
        let secondOfDay: Int
        /// The date, followed by a space.
        let date: [UInt8]
    }

    fileprivate static let quarterLength: Int64 = 900

    private let parts: @Sendable (FileTime) -> CalendarTime?
    private let quarter = Monitor<Quarter?>(nil)

    /// Makes a clock that shows the local time as `parts` tells it.
    init(parts: @escaping @Sendable (FileTime) -> CalendarTime? = { CalendarTime(local: $0) }) {
        self.parts = parts
    }

    /// Appends `time` to `text`, such as `2026-11-21 09:31`.
    func append(_ time: FileTime, to text: inout [UInt8]) {
        let remainder = time.seconds % Self.quarterLength
        let start = time.seconds &- (remainder < 0 ? remainder + Self.quarterLength : remainder)
        quarter.withLock { quarter in
            if quarter?.start != start { quarter = Quarter(from: start, parts) }
            guard let quarter else {
                let minutes = parts(time).map(Timestamp.minutes) ?? "@\(time.seconds)"
                return text.append(contentsOf: minutes.utf8)
            }
            let minutes = (quarter.secondOfDay + Int(time.seconds - start)) / 60
            text.append(contentsOf: quarter.date)
            Self.append(twoDigits: minutes / 60, to: &text)
            text.append(UInt8(ascii: ":"))
            Self.append(twoDigits: minutes % 60, to: &text)
        }
    }

    private static func append(twoDigits number: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension LocalClock.Quarter {
    /// Makes the quarter from `start`; `nil` if the clock is changed within it, or a day begins.
    fileprivate init?(from start: Int64, _ parts: (FileTime) -> CalendarTime?) {
        let last = LocalClock.quarterLength - 1
        let (end, overflows) = start.addingReportingOverflow(last)
        guard !overflows, start <= end, let first = parts(FileTime(seconds: start)),
            let final = parts(FileTime(seconds: end)), first.day == final.day,
            Self.secondOfDay(final) - Self.secondOfDay(first) == last
        else { return nil }
        self.start = start
        secondOfDay = Self.secondOfDay(first)
        date = [UInt8]((Timestamp.day(first) + " ").utf8)
    }

    private static func secondOfDay(_ time: CalendarTime) -> Int {
        (time.hour * 60 + time.minute) * 60 + time.second
    }
}
