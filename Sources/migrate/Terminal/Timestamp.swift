internal import Foundation
internal import MigrationSystem

/// A point in time in the forms that answers show.
struct Timestamp: Hashable, Sendable {
    let time: FileTime

    init(_ time: FileTime) {
        self.time = time
    }

    /// Makes the time of `date`, without the fraction of its seconds.
    init(_ date: Date) {
        time = FileTime(seconds: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
    }

    /// Local time to the minute, such as `2026-11-21 09:31`.
    var localMinutes: String {
        CalendarTime(local: time).map(Self.minutes) ?? "@\(time.seconds)"
    }

    /// Local time to the second.
    var localSeconds: String {
        guard let clock = CalendarTime(local: time) else { return "@\(time.seconds)" }
        return Self.day(clock) + " " + hours(clock)
    }

    /// UTC to the second, as ISO 8601 writes it.
    var universalSeconds: String {
        guard let clock = CalendarTime(universal: time) else { return "@\(time.seconds)" }
        return Self.day(clock) + "T" + hours(clock) + "Z"
    }

    /// UTC to the nanosecond, as ISO 8601 writes it.
    var universalNanoseconds: String { time.universal }

    /// The date, such as `2026-11-21`.
    static func day(_ clock: CalendarTime) -> String {
        padded(clock.year, to: 4) + "-" + padded(clock.month, to: 2) + "-"
            + padded(clock.day, to: 2)
    }

    /// The date and the time to the minute.
    static func minutes(_ clock: CalendarTime) -> String {
        day(clock) + " " + padded(clock.hour, to: 2) + ":" + padded(clock.minute, to: 2)
    }

    private func hours(_ clock: CalendarTime) -> String {
        padded(clock.hour, to: 2) + ":" + padded(clock.minute, to: 2) + ":"
            + padded(clock.second, to: 2)
    }
}

extension Timestamp: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(universalSeconds)
    }
}
