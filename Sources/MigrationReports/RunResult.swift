internal import Foundation
package import MigrationCore
package import MigrationSystem

/// Notes about a command's run, taken while it runs.
package final class RunOutcome: Sendable {
    fileprivate struct Facts: Sendable {
        var fingerprint: String?
        var bytes: UInt64?
        var archiveBytes: UInt64?
        var isSkipped = false
        var error: String?
        var message: String?
    }

    private let state = Monitor(Facts())
    /// When the run began, by the calendar and by a monotonic clock.
    fileprivate let date = Date()
    private let instant = ContinuousClock.now

    package init() {}

    fileprivate var seconds: Double { (ContinuousClock.now - instant) / .seconds(1) }

    fileprivate var facts: Facts { state.withLock { $0 } }

    /// Notes a success, or that there was nothing to do.
    package func note(
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

    /// Notes the name of the error that ended the command, and its message.
    package func note(error name: String, _ message: String) {
        state.withLock { ($0.error, $0.message) = (name, message) }
    }
}

/// One run of a command, as a line of a file of results.
package struct RunResult: Answer, Codable {
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

    package var schema: String { "migrate/result/1" }

    package var text: String { "\(operation) \(container): \(exitCode)\n" }

    package init(
        operation: String,
        container: BytePath,
        archive: [UInt8],
        outcome: RunOutcome,
        code: Int32
    ) {
        let facts = outcome.facts
        self.archive = PrintableText.escaping(archive)
        archiveBytes = facts.archiveBytes
        bytes = facts.bytes
        self.container = PrintableText.escaping(container)
        error = facts.error
        exitCode = code
        fingerprint = facts.fingerprint
        host = ThisProcess.hostName
        isSkipped = facts.isSkipped
        message = facts.message
        self.operation = operation
        seconds = (outcome.seconds * 1000).rounded() / 1000
        started = outcome.date.formatted(.iso8601)
    }
}

/// A file of results, to which many processes append at the same time.
package struct ResultFile: Sendable {
    private let path: BytePath
    private let flag: String
    private let file: OpenFile

    /// Opens the file at `path`, the value of `flag`, and makes it if it is missing.
    package init(at path: BytePath, named flag: String) throws(MigrationError) {
        (self.path, self.flag) = (path, flag)
        do throws(SystemError) {
            let access = FileDescriptor.Access.appending(permissions: 0o644)
            file = OpenFile(try FileDescriptor.openFollowingLinks(path, access))
        } catch {
            throw Self.failure(error, at: path, flag)
        }
    }

    /// Appends one line, in one piece.
    ///
    /// A run that was killed while it wrote may have left part of a line, which this line must not
    /// continue. An empty line is harmless, because readers skip it.
    package func append(_ result: RunResult) throws {
        let start = endsInsideLine ? "\n" : ""
        let line = [UInt8]((start + (try JSONText.lineOfDocument(result)) + "\n").utf8)
        do throws(SystemError) {
            try file.descriptor.writeAtOnce(line.span)
        } catch {
            throw Self.failure(error, at: path, flag)
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

    private static func failure(
        _ error: SystemError,
        at path: BytePath,
        _ flag: String
    ) -> MigrationError {
        let message = "the file of \(flag) can't be written"
        return MigrationError(.outputFailed, message, path: path, cause: error)
    }
}
