internal import Glibc

/// What stopped a measurement.
enum BenchmarkError: Error, CustomStringConvertible {
    case usage(String)
    case interrupted
    case system(call: String, subject: String, code: Int32)
    case failedCommand(name: String, outcome: String, complaint: String)

    var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .interrupted: 130
        case .system, .failedCommand: 1
        }
    }

    var description: String {
        switch self {
        case .usage(let complaint):
            "\(complaint)\n\n\(Arguments.usage)"
        case .interrupted: "interrupted"
        case .system(let call, let subject, let code):
            "\(call) of \(subject): \(String(cString: strerror(code)))"
        case .failedCommand(let name, let outcome, let complaint):
            "\(name) \(outcome)\n\(complaint)"
        }
    }
}
