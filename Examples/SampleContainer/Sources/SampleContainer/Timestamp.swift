internal import Foundation
internal import Glibc

/// A modification time in nanoseconds.
struct Timestamp {
    let seconds: Int
    let nanoseconds: Int

    /// Some moment from 2021 to mid-2025.
    static func random(using generator: inout SeededGenerator) -> Timestamp {
        Timestamp(
            seconds: 1_609_459_200 + generator.number(in: 0...141_955_199),
            nanoseconds: generator.number(in: 0...999_999_999)
        )
    }

    var value: timespec {
        timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    }

    /// The moment in whole seconds, as documents store it.
    var date: Date {
        Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    var year: Int {
        Calendar.gregorianUTC.component(.year, from: date)
    }
}

extension Calendar {
    fileprivate static let gregorianUTC: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}
