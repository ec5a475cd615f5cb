internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// Notes about a command's run, taken while it runs.
final class RunOutcome: Sendable {
    fileprivate struct Facts: Sendable {
        var fingerprint: String?
        var bytes: UInt64?
        var archiveBytes: UInt64?
        var isSkipped = false
        var error: ErrorAnswer?
    }

    private let state = Monitor(Facts())

    fileprivate var facts: Facts { state.withLock { $0 } }

    /// Notes a success, or that there was nothing to do.
    func note(
        fingerprint: String?,
        bytes: UInt64? = nil,
        archiveBytes: UInt64? = nil,
        isSkipped: Bool = false
    ) {
        state.withLock { facts in
            (facts.fingerprint, facts.isSkipped) = (fingerprint, isSkipped)
            (facts.bytes, facts.archiveBytes) = (bytes, archiveBytes)
        }
    }

    /// Notes the error that ended the command.
    func note(_ error: ErrorAnswer) {
        state.withLock { $0.error = error }
    }
}

/// When a run began, by the calendar and by a clock that can't be set.
struct RunBeginning: Sendable {
    fileprivate let date = Date()
    private let instant = ContinuousClock.now

    fileprivate var seconds: Double { (ContinuousClock.now - instant) / .seconds(1) }
}

/// One run of a command, as a line of a file of results.
struct RunResult: Answer, Codable {
    let archive: String
    let archiveBytes: UInt64?
    /// How many bytes of content were moved.
    let bytes: UInt64?
    let container: String
    let error: String?
    let exitCode: Int32
    let fingerprint: String?
    let host: String
    let isSkipped: Bool
    let message: String?
    let operation: String
    let seconds: Double
    let started: String

    var schema: String { "migrate/result/1" }

    var text: String { "\(operation) \(container): \(exitCode)\n" }

    init(
        operation: String,
        container: BytePath,
        archive: [UInt8],
        begun beginning: RunBeginning,
        outcome: RunOutcome,
        code: ExitCode
    ) {
        let facts = outcome.facts
        self.archive = PrintableText.escaping(archive)
        archiveBytes = facts.archiveBytes
        bytes = facts.bytes
        self.container = PrintableText.escaping(container)
        error = facts.error?.name
        exitCode = code.rawValue
        fingerprint = facts.fingerprint
        host = ThisProcess.hostName
        isSkipped = facts.isSkipped
        message = facts.error?.message
        self.operation = operation
        seconds = (beginning.seconds * 1000).rounded() / 1000
        started = beginning.date.formatted(.iso8601)
    }
}

/// A file of results, to which many processes append at the same time.
struct ResultFile: Sendable {
    private let path: BytePath
    private let file: OpenFile

    /// Opens the file at `path`, and makes it if it is missing.
    init(at path: BytePath) throws(MigrationError) {
        self.path = path
        do throws(SystemError) {
            let access = FileDescriptor.Access.appending(permissions: 0o644)
            file = OpenFile(try FileDescriptor.openFollowingLinks(path, access))
        } catch {
            throw Self.failure(error, at: path)
        }
    }

    /// Appends one line, in one piece.
    ///
    /// A run that was killed while it wrote may have left a part of a line, which this line must
    /// not continue. An empty line does no harm, because readers skip it.
    func append(_ result: RunResult) throws {
        let start = endsInsideLine ? "\n" : ""
        let line = [UInt8]((start + (try JSONText.lineOfDocument(result)) + "\n").utf8)
        do throws(SystemError) {
            try file.descriptor.writeAtOnce(line.span)
        } catch {
            throw Self.failure(error, at: path)
        }
    }

    /// Whether the file ends in a part of a line; `false` if it can only be written.
    private var endsInsideLine: Bool {
        do throws(SystemError) {
            let file = try FileDescriptor.openFollowingLinks(path, .reading)
            let status = try file.status()
            guard status.kind == .regular, status.size > 0 else { return false }
            var last: [UInt8] = [0]
            let count = try file.read(at: status.size - 1, into: &last, count: 1)
            return count == 1 && last != [UInt8(ascii: "\n")]
        } catch {
            return false
        }
    }

    private static func failure(_ error: SystemError, at path: BytePath) -> MigrationError {
        let message = "the file of --result can't be written"
        return MigrationError(.outputFailed, message, path: path, cause: error)
    }
}
