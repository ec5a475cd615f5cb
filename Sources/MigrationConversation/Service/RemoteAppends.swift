internal import MigrationArchive
internal import MigrationContract
internal import MigrationSystem

/// Sends what an extension appends to the host of its process, which archives it.
final class RemoteAppends: AppendDestination {
    private typealias Answer = CheckedContinuation<Void, any Error>

    private struct State {
        var ahead: AppendAhead?
        var lastNumber: UInt32 = 0
        var waiting: [UInt32: Answer] = [:]
        /// Why nothing can be appended any more.
        var failure: (any Error)?
        var wasCancelled = false

        mutating func checkIsOpen() throws {
            guard let failure else { return }
            wasCancelled = wasCancelled || failure is CancellationError
            throw failure
        }

        mutating func takeNumber() throws -> UInt32 {
            try checkIsOpen()
            lastNumber &+= 1
            return lastNumber
        }
    }

    private let channel: SessionChannel
    private let state: Monitor<State>

    /// Sends through `channel`; what `ahead` is certain of is not waited for.
    init(_ channel: SessionChannel, ahead: AppendAhead?) {
        self.channel = channel
        state = Monitor(State(ahead: ahead))
    }

    /// Whether an append threw because the session was cancelled.
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func append(itemAt source: ByteString, as name: ByteString) async throws {
        if try isCertain(source, name) { return try send(nil, source, name) }
        try await withCheckedThrowingContinuation { answer in
            do {
                let number = try register(answer)
                do {
                    try send(number, source, name)
                } catch {
                    resolve(number, .failure(error))
                }
            } catch {
                answer.resume(throwing: error)
            }
        }
        state.withLock { $0.ahead?.insert(source, as: name) }
    }

    /// Passes the host's answer to whoever waits for it.
    func resolve(_ number: UInt32, _ result: Result<Void, any Error>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(with: result)
    }

    /// Makes every append fail from now on, and those that wait too.
    func cancel() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.failure = CancellationError()
            state.wasCancelled = state.wasCancelled || !state.waiting.isEmpty
            return state.waiting.values
        }
        for answer in waiting { answer.resume(throwing: CancellationError()) }
    }

    private func isCertain(_ source: ByteString, _ name: ByteString) throws -> Bool {
        try state.withLock { state in
            guard state.ahead?.takesForCertain(source, as: name) ?? false else { return false }
            try state.checkIsOpen()
            return true
        }
    }

    private func register(_ answer: Answer) throws -> UInt32 {
        try state.withLock { state in
            let number = try state.takeNumber()
            state.waiting[number] = answer
            return number
        }
    }

    private func send(_ answer: UInt32?, _ source: ByteString, _ name: ByteString) throws {
        let message = ExtensionMessage.append(answer: answer, source: source, name: name)
        let bytes = try message.encoded()
        if answer == nil { try channel.sendSoon(bytes) } else { try channel.send(bytes) }
    }
}
