package import Foundation
package import MigrationSystem

/// A point in time in the forms that answers show.
package struct Timestamp: Hashable, Sendable {
    package let time: FileTime

    package init(_ time: FileTime) {
        self.time = time
    }

    /// Makes the time of `date`, without the fraction of its seconds.
    package init(_ date: Date) {
        time = FileTime(seconds: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
    }

    /// Local time to the minute, such as `2026-11-21 09:31`.
    package var localMinutes: String {
        CalendarTime(local: time).map(Self.minutes) ?? "@\(time.seconds)"
    }

    /// Local time to the second.
    package var localSeconds: String {
        guard let clock = CalendarTime(local: time) else { return "@\(time.seconds)" }
        return Self.day(clock) + " " + hours(clock)
    }

    /// UTC to the second, in ISO 8601.
    package var universalSeconds: String {
        guard let clock = CalendarTime(universal: time) else { return "@\(time.seconds)" }
        return Self.day(clock) + "T" + hours(clock) + "Z"
    }

    /// UTC to the nanosecond, in ISO 8601.
    package var universalNanoseconds: String { time.universal }

    /// The date, such as `2026-11-21`.
    package static func day(_ clock: CalendarTime) -> String {
        padded(clock.year, to: 4) + "-" + padded(clock.month, to: 2) + "-"
            + padded(clock.day, to: 2)
    }

    /// The date and the time to the minute.
    package static func minutes(_ clock: CalendarTime) -> String {
        day(clock) + " " + padded(clock.hour, to: 2) + ":" + padded(clock.minute, to: 2)
    }

    private func hours(_ clock: CalendarTime) -> String {
        padded(clock.hour, to: 2) + ":" + padded(clock.minute, to: 2) + ":"
            + padded(clock.second, to: 2)
    }
}

extension Timestamp: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(universalSeconds)
    }
}

// MARK: - Many times

/// Writes many points in time as local time to the minute.
///
/// Files are often changed soon after each other, so the clock remembers the last quarter of an hour.
package final class LocalClock: Sendable {
    /// A quarter of an hour in which the local time advances evenly within one day.
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

    /// Makes a clock that shows the local time from `parts`.
    package init(
        parts: @escaping @Sendable (FileTime) -> CalendarTime? = { CalendarTime(local: $0) }
    ) {
        self.parts = parts
    }

    /// Appends `time` to `text`, such as `2026-11-21 09:31`.
    package func append(_ time: FileTime, to text: inout [UInt8]) {
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
