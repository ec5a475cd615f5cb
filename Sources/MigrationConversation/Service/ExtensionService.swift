internal import Dispatch
public import ExtensionFoundation
internal import Foundation
public import MigrationContract
internal import MigrationSystem

@MainActor
extension AppMigrationExtension {
    /// Runs the extension; authors of extensions don't write it.
    public var configuration: some AppExtensionConfiguration {
        HostedConfiguration(hosted: self)
    }

    /// The extension point of migrations; authors of extensions need not write it.
    @AppExtensionPoint.Bind public var extensionPoint: AppExtensionPoint {
        AppExtensionPoint.Identifier.migration
    }
}

/// Runs a migration extension in its own process.
private struct HostedConfiguration<Hosted: AppMigrationExtension>: RunnableConfiguration {
    let hosted: Hosted

    nonisolated func accept(connection: NSXPCConnection) -> Bool { false }

    func run() throws {
        try ExtensionService.run(hosted)
    }
}

/// The part of an extension's process that communicates with its host.
package enum ExtensionService {
    /// The environment variable that a host sets to the descriptor of its socket.
    package static let sessionVariable = "MIGRATION_SESSION"

    /// Serves the host until it closes the session; returns only by throwing.
    @MainActor
    static func run(_ hosted: some AppMigrationExtension) throws {
        guard let number = descriptor(in: sessionVariable) else { exitWithoutHost(hosted) }
        StandardOutput.stopBuffering()
        let socket = OpenFile(FileDescriptor(adopting: number))
        let session = ServiceSession(ExtensionAdapter(hosted), socket: socket)
        session.start()
        // This runs the main actor and the timers of the extension.
        dispatchMain()
    }

    /// The environment variable that a host sets to the descriptor with which the process asks for
    /// its grants.
    package static let grantsVariable = "MIGRATION_GRANT_KEEPER"

    fileprivate static func descriptor(in variable: String) -> CInt? {
        Environment.value(of: variable).flatMap { CInt(String(decoding: $0, as: UTF8.self)) }
    }

    private static func exitWithoutHost(_ hosted: some AppMigrationExtension) -> Never {
        let path = CommandLine.arguments.first ?? "\(type(of: hosted))"
        let text = """
            \(type(of: hosted)) is an app's migration extension: a host runs it, such as \
            'migrate export --extension \(path)'

            """
        FileHandle.standardError.write(Data(text.utf8))
        ThisProcess.exit(64)
    }
}

// MARK: - The session

/// One session, in the extension's process.
private final class ServiceSession: Sendable {
    private struct State {
        var appends: RemoteAppends?
        var start: SessionStart?
        var work: Task<Void, Never>?
    }

    private let adapter: ExtensionAdapter
    private let channel: SessionChannel
    private let state = Monitor(State())

    init(_ adapter: ExtensionAdapter, socket: OpenFile) {
        self.adapter = adapter
        channel = SessionChannel(socket, limit: SessionChannel.extensionLimit)
    }

    /// Starts the threads of the session.
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
                    try receive(HostMessage(kind: kind, payload: payload))
                }
                // The host is gone, so the process has nothing left to do.
                guard try channel.receive() else { ThisProcess.exit(0) }
            }
        } catch {
            FileHandle.standardError.write(Data("migration session: \(error)\n".utf8))
            ThisProcess.exit(76)
        }
    }

    private func receive(_ message: HostMessage) throws {
        switch message {
        case .begin(let start): try begin(start)
        case .export(let call): export(call)
        case .importResources(let call): importResources(call)
        case .accepted(let number): appends?.resolve(number, with: .success(()))
        case .rejected(let number, let error):
            appends?.resolve(number, with: .failure(error.carried))
        case .cancel: cancel()
        }
    }

    private var appends: RemoteAppends? { state.withLock { $0.appends } }
}

// MARK: - The host's requests

extension ServiceSession {
    private func begin(_ start: SessionStart) throws {
        guard start.version == sessionVersion else {
            let message =
                "the host speaks version \(start.version), the extension \(sessionVersion)"
            throw MigrationError(.sessionFailed, message)
        }
        ExtensionContext.install(ExtensionContext(start, changingGrantsBy: GrantKeeper.change))
        state.withLock { $0.start = start }
        work { [self] in .description(await adapter.description()) }
    }

    private func export(_ call: ExportCall) {
        work { [self] in
            let start = state.withLock { $0.start }
            let appends = try RemoteAppends(
                sendingThrough: channel,
                container: BytePath([UInt8](start?.container ?? Data())),
                policy: start?.appendPolicy ?? .answered
            )
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
                at: URL(directoryAtPath: BytePath([UInt8](call.directory))),
                request: request
            ) { [self] progress in
                tell(.progress(progress))
            }
            return .finished(SessionSummary(progress: summary))
        }
    }

    private func cancel() {
        let (appends, work) = state.withLock { ($0.appends, $0.work) }
        work?.cancel()
        appends?.cancel()
    }

    /// Runs a request and sends its result; the host may then end the process.
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

    /// Sends a message, and ignores a failure to send it.
    private func tell(_ message: ExtensionMessage) {
        // If the host is gone, the thread that reads from it ends the process.
        try? send(message)
    }

    private func send(_ message: ExtensionMessage) throws {
        try channel.send(try message.encoded())
    }
}

// MARK: - Granted resources

/// The second process, which shows and hides the grants.
private enum GrantKeeper {
    /// Asks for a grant to be shown or hidden; `nil` if grants are never hidden.
    static var change: SessionGrants.Change? {
        guard let number = ExtensionService.descriptor(in: ExtensionService.grantsVariable) else {
            return nil
        }
        let socket = OpenFile(FileDescriptor(adopting: number))
        return { grant, isShown in
            // The protocol of `migration_offer_grants`.
            let request = UInt8(grant) | (isShown ? 0 : 0x80)
            var answer = [UInt8](repeating: 0xff, count: MemoryLayout<CInt>.size)
            do {
                try socket.descriptor.writeAll([request].span)
                let count = try socket.descriptor.read(into: &answer, from: 0, count: answer.count)
                return count == answer.count && answer.allSatisfy { $0 == 0 }
            } catch {
                return false
            }
        }
    }
}
