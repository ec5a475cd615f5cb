internal import Foundation
internal import Glibc
internal import MigrationArchive
internal import MigrationSystem

/// A session with an extension in a process of its own.
final class ProcessSession: ExtensionSession {
    let confinement: ConfinementReport

    private let process: ChildProcess
    private let channel: SessionChannel
    private let observer: SessionObserver
    private let output: ProcessOutput
    private var watch: SessionWatch
    private let name: String

    /// Starts the extension.
    init(
        executable: ByteString,
        terms: MigrationExtension,
        in place: SessionPlace,
        observer: SessionObserver,
        limits: SessionLimits
    ) throws {
        let program = try Self.resolve(executable)
        name = PrintableText.escaping(program.name)
        let sandbox: Sandbox?
        (sandbox, confinement) = try ExtensionSandbox.make(
            for: program.path,
            in: place,
            policy: terms.confinement
        )
        do {
            process = try ChildProcess.start(
                ChildProcess.Configuration(
                    executable: program.path,
                    arguments: [program.path],
                    environment: ExtensionEnvironment.variables(in: place),
                    workingDirectory: place.temporaryDirectory.path,
                    sandbox: sandbox
                )
            )
        } catch {
            let message = "the extension can't be started"
            throw MigrationError(.extensionUnsuitable, message, path: program.path, cause: error)
        }
        channel = SessionChannel(process.connection, limit: SessionChannel.hostLimit)
        try process.connection.descriptor.setSendTimeout(SessionLimits.interval)
        output = ProcessOutput(of: process, handler: terms.outputHandler)
        watch = SessionWatch(limits, observer, name: name)
        self.observer = observer
        try begin(in: place)
    }

    func end() {
        _ = process.terminate()
        output.drain()
    }

    func description() throws -> ExtensionDescription {
        observer.noteActivity()
        guard case .description(let description) = try next() else {
            throw unexpected("while it was asked what it can do")
        }
        guard description.version == sessionVersion else {
            let message =
                "\(name) was built for version \(description.version) of the session, this is "
                + "version \(sessionVersion); build it again"
            throw MigrationError(.sessionFailed, message)
        }
        return description
    }

    func export(_ call: ExportCall, to intake: ItemIntake) throws {
        observer.noteActivity()
        try send(.export(call))
        while true {
            guard let message = try received() else {
                // What came is archived before the host waits for more.
                try archive { try intake.settle() }
                try waitForMore()
                observer.noteEndOfWait()
                continue
            }
            switch message {
            case .append(let number, isAwaited: true, let source, let name):
                try take(number, source, name, into: intake)
            case .append(_, isAwaited: false, let source, let name):
                try archive { try intake.appendSoon(source, as: name) }
            case .finished(let summary):
                try archive { try intake.settle() }
                if summary.wasCancelled { throw SessionFailure.swallowedCancellation(name) }
                if watch.isCancelled { throw CancellationError() }
                return
            case .failed(let error): throw watch.failure(of: error.error)
            default: throw unexpected("during an export")
            }
        }
    }

    func importResources(
        _ call: ImportCall,
        onProgress: @escaping @Sendable (_ completed: Int64, _ total: Int64) -> Void
    ) throws -> ImportProgressSummary {
        observer.noteActivity()
        try send(.importResources(call))
        var last: (Int64, Int64)?
        while true {
            switch try next() {
            case .progress(let completed, let total):
                if last.map({ $0 != (completed, total) }) ?? true { observer.noteActivity() }
                last = (completed, total)
                onProgress(completed, total)
            case .finished(let summary):
                if watch.isCancelled { throw CancellationError() }
                return summary.progress
            case .failed(let error): throw watch.failure(of: error.error)
            default: throw unexpected("during an import")
            }
        }
    }
}

// MARK: - Messages

extension ProcessSession {
    private func begin(in place: SessionPlace) throws {
        let start = SessionStart(
            container: Data(place.container.rootPath.path),
            bundleIdentifier: place.container.bundleIdentifier,
            temporaryDirectory: Data(place.temporaryDirectory.path),
            groups: place.groups.mapValues { Data($0.path) },
            isContainerFixed: place.isContainerFixed && confinement.isConfined
        )
        try send(.begin(start))
    }

    private func send(_ message: HostMessage) throws {
        let bytes = try message.encoded()
        var sent = 0
        do {
            // A process that reads nothing must not make the host wait for ever.
            while true {
                sent += try channel.sendSome(bytes, from: sent)
                if sent == bytes.count { return }
                if try watch.check() { throw CancellationError() }
            }
        } catch let error as SystemError where error.isBrokenPipe || error.isConnectionReset {
            throw failureOfProcess()
        }
    }

    /// Archives something that nobody waits for, unless the session is cancelled.
    private func archive(_ body: () throws -> Void) throws {
        // A process that was told to stop is told so by its own end of the session.
        if watch.isCancelled { return }
        do {
            try body()
        } catch is CancellationError {
            return
        }
    }

    /// Archives an item; the process hears of an error after which the export may go on.
    private func take(
        _ number: UInt32,
        _ source: ByteString,
        _ name: ByteString,
        into intake: ItemIntake
    ) throws {
        // A process that was told to stop is told so by its own end of the session.
        if watch.isCancelled { return }
        do {
            try intake.append(source, as: name)
            try send(.accepted(number))
        } catch is CancellationError {
            return
        } catch {
            guard intake.failure == nil else { throw error }
            try send(.rejected(number, CarriedError(error)))
        }
    }

    /// The next message, once it has come.
    private func next() throws -> ExtensionMessage {
        while true {
            if let message = try received() { return message }
            try waitForMore()
        }
    }

    /// The next message that has come whole.
    private func received() throws -> ExtensionMessage? {
        guard let (kind, payload) = try channel.nextMessage() else { return nil }
        return try ExtensionMessage(kind: kind, payload: payload)
    }

    /// Waits until more has come, watching the process meanwhile.
    private func waitForMore() throws {
        while true {
            if try watch.check() { try send(.cancel) }
            let events = try process.wait(
                for: output.isAtEnd ? [.message, .exit] : [.message, .output, .exit],
                timeout: SessionLimits.interval
            )
            if events.contains(.output) { output.drain() }
            if events.contains(.message) {
                guard try receive() else { throw failureOfProcess() }
                return
            }
            if events.contains(.exit) { throw failureOfProcess() }
        }
    }

    private func receive() throws -> Bool {
        do {
            return try channel.receive()
        } catch let error as SystemError where error.isConnectionReset {
            // So ends a connection whose other end died with messages unread.
            return false
        }
    }

    private func unexpected(_ phase: String) -> MigrationError {
        MigrationError(.sessionFailed, "\(name) sent an unexpected message \(phase)")
    }

    /// What became of a process that is not there any more.
    private func failureOfProcess() -> any Error {
        let ending = process.terminate()
        output.drain()
        if watch.isCancelled { return CancellationError() }
        let message: String
        switch ending {
        case .exited(let code): message = "\(name) ended before it was done, with code \(code)"
        case .signaled(let number):
            let signal = unsafe String(cString: strsignal(number))
            message = "\(name) crashed: signal \(number) (\(signal))"
        }
        let lines = output.lastLines
        let text = lines.isEmpty ? "" : "; it printed last:\n" + lines.joined(separator: "\n")
        return MigrationError(.extensionCrashed, message + text)
    }

    private static func resolve(_ executable: ByteString) throws(MigrationError) -> PathName {
        let path: PathName
        let kind: FileStatus.Kind
        do throws(SystemError) {
            path = try PathName(resolvingWhole: executable)
            kind = try FileDescriptor.status(atPath: path.path).kind
        } catch {
            let message = "there is no such extension"
            throw MigrationError(.extensionUnsuitable, message, path: executable, cause: error)
        }
        guard kind == .regular else {
            let message = "the extension is no program"
            throw MigrationError(.extensionUnsuitable, message, path: executable)
        }
        return path
    }
}
