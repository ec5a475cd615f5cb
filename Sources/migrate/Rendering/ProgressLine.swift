/// How far an operation is, as a line of text.
struct ProgressLine: Hashable, Sendable {
    /// The bytes that are done.
    let completed: UInt64

    /// The bytes that there are, as far as is known.
    let total: UInt64?

    let bytesPerSecond: Double

    /// The line for a log.
    var plain: String {
        let share = percent.map { " (\($0))" } ?? ""
        return ([amounts + share, rate] + [timeLeft].compactMap(\.self)).joined(separator: ", ")
    }

    /// The line for a terminal: as much as `columns` hold, the least important left out first.
    func bar(columns: Int) -> String {
        let details: [String?] = [percent, amounts, rate, timeLeft]
        for count in stride(from: details.count, to: 0, by: -1) {
            let text = details.prefix(count).compactMap(\.self).joined(separator: "  ")
            guard text.utf8.count < columns else { continue }
            // The last column stays free: some terminals wrap when it is filled.
            let room = min(columns - 1 - text.utf8.count - 4, 40)
            return count == details.count && room >= 10 ? drawing(room) + "  " + text : text
        }
        return ""
    }

    private func drawing(_ width: Int) -> String {
        guard let fraction else { return "[" + String(repeating: "-", count: width) + "]" }
        let done = Int(fraction * Double(width))
        return "[" + String(repeating: "#", count: done)
            + String(repeating: "-", count: width - done) + "]"
    }

    private var fraction: Double? {
        // The total is an estimate, which what is done may pass.
        total.map { min(Double(completed) / Double($0), 1) }
    }

    private var percent: String? {
        fraction.map { "\(Int($0 * 100)) %" }
    }

    private var amounts: String {
        "\(ByteCount(completed))" + (total.map { " of \(ByteCount($0))" } ?? "")
    }

    private var rate: String {
        "\(ByteCount(UInt64(exactly: bytesPerSecond.rounded(.down)) ?? .max))/s"
    }

    private var timeLeft: String? {
        guard let total, bytesPerSecond >= 1 else { return nil }
        let left = total > completed ? Double(total - completed) / bytesPerSecond : 0
        guard left < 100 * 3600 else { return nil }
        let seconds = Int(left.rounded(.up))
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let head = hours > 0 ? "\(hours):\(padded(minutes, to: 2))" : "\(minutes)"
        return "\(head):\(padded(seconds % 60, to: 2)) left"
    }
}
