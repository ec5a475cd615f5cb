import Glibc
import MigrationSystem

/// Why text could not be written.
enum OutputError: Error, Hashable, Sendable {
    /// The stream was closed when the process started.
    case closed

    /// Nobody reads any more.
    case brokenPipe

    /// A signal came while nobody read.
    case interrupted

    /// The system refused.
    case failed(SystemError)

    /// How the command ends.
    var exitCode: ExitCode {
        switch self {
        case .brokenPipe: .signal(SIGPIPE)
        case .interrupted: .failure
        case .closed, .failed: .cannotCreateOutput
        }
    }
}

extension OutputError: CustomStringConvertible {
    var description: String {
        switch self {
        case .closed: "standard output is closed"
        case .brokenPipe: "nobody reads standard output"
        case .interrupted: "interrupted while writing to standard output"
        case .failed(let error): "writing to standard output: \(error)"
        }
    }
}
