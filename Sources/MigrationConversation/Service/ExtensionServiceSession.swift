internal import Foundation
internal import Glibc
internal import MigrationContract
internal import MigrationSystem

/// One session, as the extension's process sees it.
final class ExtensionServiceSession: Sendable {
    private struct State {
        var appends: RemoteAppends?
        var start: SessionStart?
        var work: Task<Void, Never>?
    }

    private let adapter: ExtensionAdapter
    private let channel: SessionChannel
    private let state = Monitor(State())

    init(_ adapter: ExtensionAdapter, _ socket: OpenFile) {
        self.adapter = adapter
        channel = SessionChannel(socket, limit: SessionChannel.extensionLimit)
    }

    /// Begins to serve, on a thread of its own.
    func start() {
        let thread = Thread { [self] in serve() }
        thread.name = "migration session"
        thread.start()
        let flusher = Thread { [channel] in channel.flushRegularly() }
        flusher.name = "migration flusher"
        flusher.start()
    }

    private func serve() {
        do {
            while true {
                while let (kind, payload) = try channel.nextMessage() {
                    try take(HostMessage(kind: kind, payload: payload))
                }
                // Without its host the process has nothing left to do.
                guard try channel.receive() else { exit(EXIT_SUCCESS) }
            }
        } catch {
            FileHandle.standardError.write(Data("migration session: \(error)\n".utf8))
            exit(EX_PROTOCOL)
        }
    }

    private func take(_ message: HostMessage) throws {
        switch message {
        case .begin(let start): try begin(start)
        case .export(let call): export(call)
        case .importResources(let call): importResources(call)
        case .accepted(let number): appends?.resolve(number, .success(()))
        case .rejected(let number, let error): appends?.resolve(number, .failure(error.carried))
        case .cancel: cancel()
        }
    }

    private var appends: RemoteAppends? { state.withLock { $0.appends } }
}

// MARK: - What a host asks for

extension ExtensionServiceSession {
    private func begin(_ start: SessionStart) throws {
        guard start.version == sessionVersion else {
            let message =
                "the host speaks version \(start.version), the extension \(sessionVersion)"
            throw MigrationError(.sessionFailed, message)
        }
        ExtensionContext.install(ExtensionContext(start))
        state.withLock { $0.start = start }
        work { [self] in .description(await adapter.description()) }
    }

    private func export(_ call: ExportCall) {
        work { [self] in
            let start = state.withLock { $0.start }
            let ahead = try start.flatMap { start in
                start.appendPolicy == .ahead
                    ? try AppendAhead(container: ByteString(start.container)) : nil
            }
            let appends = RemoteAppends(channel, ahead: ahead)
            let isCancelled = state.withLock { state in
                state.appends = appends
                return state.work?.isCancelled ?? false
            }
            if isCancelled { appends.cancel() }
            try await adapter.export(call, to: appends)
            return .finished(SessionSummary(wasCancelled: appends.wasCancelled))
        }
    }

    private func importResources(_ call: ImportCall) {
        work { [self] in
            let request = ResourcesImportRequest(
                sourceAppIdentifier: call.source,
                sourceVersion: call.sourceVersion
            )
            let summary = try await adapter.importResources(
                at: URL(directoryAtPath: ByteString(call.directory)),
                request
            ) { [self] completed, total in
                tell(.progress(completed: completed, total: total))
            }
            return .finished(SessionSummary(progress: summary))
        }
    }

    private func cancel() {
        let (appends, work) = state.withLock { ($0.appends, $0.work) }
        work?.cancel()
        appends?.cancel()
    }

    /// Does what was asked for and sends what came of it, upon which the host may end the process.
    private func work(_ body: @escaping @Sendable () async throws -> ExtensionMessage) {
        state.withLock { state in
            state.work = Task { [self] in
                do {
                    let answer = try await body()
                    try send(answer)
                } catch {
                    tell(.failed(CarriedError(error)))
                }
            }
        }
    }

    /// Sends a message that nothing depends on where it can't be sent.
    private func tell(_ message: ExtensionMessage) {
        // Where the host is gone, the thread that reads from it ends the process.
        try? send(message)
    }

    private func send(_ message: ExtensionMessage) throws {
        try channel.send(try message.encoded())
    }
}
