internal import Glibc

/// The parts of a point in time by the calendar.
package struct CalendarTime: Hashable, Sendable {
    package let year: Int
    /// The month, counted from 1.
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// Reads the time zone, which ``init(local:)`` then uses.
    package static func loadTimeZone() { tzset() }

    /// Makes the parts in UTC; `nil` for years that the C library can't represent.
    package init?(universal time: FileTime) {
        unsafe self.init(time, gmtime_r)
    }

    /// Makes the parts in this machine's time zone; `nil` for years that the C library can't represent.
    package init?(local time: FileTime) {
        unsafe self.init(time, localtime_r)
    }

    private init?(
        _ time: FileTime,
        _ convert: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) {
        var seconds = time_t(time.seconds)
        var parts = unsafe tm()
        guard unsafe convert(&seconds, &parts) != nil else { return nil }
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
    }
}
