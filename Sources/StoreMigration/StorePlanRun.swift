internal import Foundation
package import MigrationSystem

/// A run of a plan's program, which is ended with this process.
package final class StorePlanRun {
    private let process: ChildProcess
    private let store: String
    private var line: [UInt8] = []
    private var report: StorePlanMessage.Report?
    private var failure: StoreMigrationError?

    private init(_ process: ChildProcess, on store: String) {
        self.process = process
        self.store = store
    }

    /// Starts the program.
    package static func start(
        plan: BytePath,
        store: BytePath,
        isDry: Bool
    ) throws -> StorePlanRun {
        let name = PrintableText.escaping(store)
        // A plan may make a missing store, so only the directory must exist.
        let path = try resolving("can't reach the store", .missing, at: name) {
            () throws(SystemError) in try BytePath(resolving: store)
        }
        guard try path.fitsURL else {
            let message = "the path is not valid UTF-8, which a plan can't take"
            throw StoreMigrationError(.failed, message, at: name)
        }
        let message = "the plan \(PrintableText.escaping(plan)) can't be run"
        let program = try resolving(message, .failed, at: name) { () throws(SystemError) in
            try BytePath(resolvingWhole: plan)
        }
        let words = [program.bytes, [UInt8](utf8: "--store"), path.bytes]
        let configuration = ChildProcess.Configuration(
            executable: program,
            arguments: isDry ? words + [[UInt8](utf8: "--dry-run")] : words,
            environment: Environment.assignments,
            workingDirectory: ".",
            sandbox: nil
        )
        do {
            return StorePlanRun(try ChildProcess.start(configuration), on: name)
        } catch {
            throw StoreMigrationError(.failed, message, at: name, cause: error)
        }
    }

    private static func resolving(
        _ message: String,
        _ code: StoreMigrationError.Code,
        at store: String,
        _ body: () throws(SystemError) -> BytePath
    ) throws -> BytePath {
        do {
            return try body()
        } catch {
            throw StoreMigrationError(code, message, at: store, cause: error)
        }
    }

    /// Waits for the program's end; `log` receives the lines that are not messages.
    package func report(
        on operation: MigrationOperation,
        log: ([UInt8]) -> Void
    ) throws -> StorePlanMessage.Report {
        let event = try CancellationEvent(of: operation.cancellation)
        while try wait(for: .output, event, operation) {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = try process.output.descriptor.read(
                into: &buffer,
                from: 0,
                count: buffer.count
            )
            if count == 0 { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    take(operation.progress, log)
                } else {
                    line.append(byte)
                }
            }
        }
        if !line.isEmpty { take(operation.progress, log) }
        _ = try wait(for: .exit, event, operation)
        let ending = try process.terminate()
        if let failure { throw failure }
        guard let report, ending == .exited(0) else {
            let message =
                switch ending {
                case .exited(let code): "the plan exited with \(code) and did not say what it did"
                case .signaled(let signal): "signal \(signal) ended the plan"
                }
            throw StoreMigrationError(.failed, message, at: store)
        }
        return report
    }

    /// Waits for an event without a time limit, because a migration may take long.
    private func wait(
        for events: ChildProcess.Events,
        _ event: CancellationEvent,
        _ operation: MigrationOperation
    ) throws -> Bool {
        while true {
            let seen = try process.wait(for: events, timeout: .seconds(3600), or: event)
            if !seen.isEmpty { return true }
            guard operation.isCancelled else { continue }
            try process.terminate()
            throw CancellationError()
        }
    }

    private func take(_ progress: Progress?, _ log: ([UInt8]) -> Void) {
        defer { line.removeAll(keepingCapacity: true) }
        switch StorePlanMessage(line: line) {
        case .progress(let completed, let total):
            progress?.totalUnitCount = total
            progress?.completedUnitCount = completed
        case .report(let report): self.report = report
        case .failure(let code, let message):
            let code = StoreMigrationError.Code(named: code) ?? .failed
            failure = StoreMigrationError(code, message, at: store)
        case nil: log(line)
        }
    }
}
