internal import Foundation
internal import Glibc
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
        localParts.map(Self.minutes) ?? "@\(time.seconds)"
    }

    /// Local time to the second.
    var localSeconds: String {
        guard let clock = localParts else { return "@\(time.seconds)" }
        return Self.day(clock) + " " + hours(clock)
    }

    /// UTC to the second, as ISO 8601 writes it.
    var universalSeconds: String {
        guard let clock = clock(gmtime_r) else { return "@\(time.seconds)" }
        return Self.day(clock) + "T" + hours(clock) + "Z"
    }

    /// UTC to the nanosecond, as ISO 8601 writes it.
    var universalNanoseconds: String { time.universal }

    /// The parts of the local time; `nil` for years that the C library can't represent.
    var localParts: tm? { clock(localtime_r) }

    /// The parts of the time; `nil` for years that the C library can't represent.
    private func clock(
        _ convert: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> tm? {
        var seconds = time_t(time.seconds)
        var parts = tm()
        return convert(&seconds, &parts) == nil ? nil : parts
    }

    /// The date, such as `2026-11-21`.
    static func day(_ clock: tm) -> String {
        let year = Int(clock.tm_year) + 1900
        return padded(year, to: 4) + "-" + padded(clock.tm_mon + 1, to: 2) + "-"
            + padded(clock.tm_mday, to: 2)
    }

    /// The date and the time to the minute.
    static func minutes(_ clock: tm) -> String {
        day(clock) + " " + padded(clock.tm_hour, to: 2) + ":" + padded(clock.tm_min, to: 2)
    }

    private func hours(_ clock: tm) -> String {
        padded(clock.tm_hour, to: 2) + ":" + padded(clock.tm_min, to: 2) + ":"
            + padded(clock.tm_sec, to: 2)
    }
}

extension Timestamp: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(universalSeconds)
    }
}
