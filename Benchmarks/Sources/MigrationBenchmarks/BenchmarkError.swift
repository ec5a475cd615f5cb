internal import Glibc

/// Why a measurement stopped.
enum BenchmarkError: Error, CustomStringConvertible {
    case usage(String)
    case interrupted
    /// This machine can't do it.
    case unsuitable(String)
    case system(call: String, subject: String, code: Int32)
    case failedCommand(name: String, outcome: String, complaint: String)

    var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .interrupted: 130
        case .unsuitable, .system, .failedCommand: 1
        }
    }

    var description: String {
        switch self {
        case .usage(let complaint):
            "\(complaint)\n\n\(Arguments.usage)"
        case .interrupted: "interrupted"
        case .unsuitable(let reason): reason
        case .system(let call, let subject, let code):
            "\(call) of \(subject): \(String(cString: strerror(code)))"
        case .failedCommand(let name, let outcome, let complaint):
            "\(name) \(outcome)\n\(complaint)"
        }
    }

    /// The description in one line, for a report.
    var summary: String {
        guard case .failedCommand(let name, let outcome, let complaint) = self else {
            return description
        }
        let program = name.prefix { $0 != "\n" }.prefix(60)
        let firstLine = complaint.split(separator: "\n").first.map { ": \($0)" } ?? ""
        return "\(program) \(outcome)\(firstLine)"
    }
}
