/// The text of values in an XML property list that hold no other values.
enum XMLPropertyListScalar {
    /// Reads `text` as the element of that name; returns `nil` if it isn't one.
    static func value(of text: String, in element: String) -> PropertyListValue? {
        switch element {
        case "string": .string(text)
        case "integer": integer(trimmed(text))
        case "real": real(trimmed(text)).map { .real($0) }
        case "true" where trimmed(text).isEmpty: .boolean(true)
        case "false" where trimmed(text).isEmpty: .boolean(false)
        case "date": PropertyListDate.seconds(trimmed(text)).map { .date(secondsSince2001: $0) }
        case "data": Base64.bytes(of: text.utf8).map { .data($0) }
        default: nil
        }
    }

    private static func trimmed(_ text: String) -> String {
        let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
        let start = text.utf8.drop(while: isSpace)
        let count = start.reversed().drop(while: isSpace).count
        return String(decoding: start.prefix(count), as: UTF8.self)
    }

    private static func integer(_ text: String) -> PropertyListValue? {
        let isNegative = text.hasPrefix("-")
        var digits = text[...]
        if isNegative || text.hasPrefix("+") { digits = digits.dropFirst() }
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        if isHexadecimal { digits = digits.dropFirst(2) }
        guard digits.first?.isHexDigit == true,
            let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
        else { return nil }
        if isNegative {
            return Int64(exactly: -Int128(magnitude)).map { .integer($0) }
        }
        return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude)
    }

    private static func real(_ text: String) -> Double? {
        switch text.lowercased() {
        case "nan": .nan
        case "inf", "+inf", "infinity", "+infinity": .infinity
        case "-inf", "-infinity": -.infinity
        // Swift also reads hexadecimal numbers, which property lists don't have.
        default: text.utf8.contains(UInt8(ascii: "x")) ? nil : Double(text)
        }
    }
}

// MARK: - Dates

/// A moment as `2026-11-25T21:30:00Z`, the only form in an XML property list.
enum PropertyListDate {
    private static let secondsPerDay = 86_400
    /// Days from 1970-01-01 to 2001-01-01.
    private static let referenceDay = 11_323

    /// Reads a moment; returns `nil` if the text isn't one.
    static func seconds(_ text: String) -> Double? {
        let pattern = [UInt8]("0000-00-00T00:00:00Z".utf8)
        let bytes = [UInt8](text.utf8)
        guard bytes.count == pattern.count else { return nil }
        var numbers: [Int] = [0]
        for (byte, expected) in zip(bytes, pattern) {
            if expected == UInt8(ascii: "0") {
                guard (0x30...0x39).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - 0x30)
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard (1...12).contains(month), (1...31).contains(day), numbers[3] < 24, numbers[4] < 60,
            numbers[5] <= 60
        else { return nil }
        let days = days(year: year, month: month, day: day)
        guard civil(day: days) == (year, month, day) else { return nil }
        return Double(
            (days - referenceDay) * secondsPerDay + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        )
    }

    /// Writes a moment without its fraction of a second; returns `nil` outside the years 0 to 9999.
    static func text(_ seconds: Double) -> String? {
        guard let whole = Int(exactly: seconds.rounded(.down)),
            (-63_145_440_000..<252_423_993_600).contains(whole)
        else { return nil }
        let day = Int((Double(whole) / Double(secondsPerDay)).rounded(.down))
        let second = whole - day * secondsPerDay
        let (year, month, date) = civil(day: day + referenceDay)
        let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))"
            + "T\(time.joined(separator: ":"))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        // A year that begins in March has its leap day at the end. 400 years have 146,097 days.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = yearOfEra / 4 - yearOfEra / 100
        return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468
    }

    private static func civil(day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let index = (5 * dayOfYear + 2) / 153
        let month = index < 10 ? index + 3 : index - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * index + 2) / 5 + 1)
    }
}

// MARK: - Data

/// Bytes as text in base64 (RFC 4648, section 4), with spaces between the characters.
package enum Base64 {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()

    /// Reads text; returns `nil` if a character isn't base64, or the text is truncated.
    package static func bytes(of text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count, padding) = (UInt32(0), 0, 0)
        for character in text where character != 32 && !(9...13).contains(character) {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            let value = values[Int(character)]
            guard value != 0xFF, padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 {
                bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
                bits = 0
            }
        }
        switch (count % 4, padding) {
        case (0, 0): break
        case (2, 2): bytes.append(UInt8(bits >> 4 & 0xFF))
        case (3, 1): bytes += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
        default: return nil
        }
        return bytes
    }

    /// Writes bytes without line breaks.
    static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                let value = bits >> UInt32(18 - 6 * index) & 0x3F
                text.append(index <= group.count ? alphabet[Int(value)] : UInt8(ascii: "="))
            }
        }
        return text
    }
}
