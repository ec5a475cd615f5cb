internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// The connection to an extension's process: messages both ways, time limits, and the end of the
/// process.
final class ExtensionConnection {
    /// The program's name, printable.
    let name: String

    private let process: ChildProcess
    private let channel: SessionChannel
    private let output: ProcessOutput
    private let bounds: SessionBounds
    private let gracePeriod: Duration
    private let cancellation: CancellationEvent
    private var watch: SessionWatch

    /// Talks to `process`, which has just started.
    init(
        to process: ChildProcess,
        named name: String,
        output handler: (@Sendable (String) -> Void)?,
        bounds: SessionBounds,
        room: ExtensionRoom,
        observer: SessionObserver,
        limits: SessionLimits
    ) throws {
        self.bounds = bounds
        self.process = process
        self.name = name
        channel = SessionChannel(process.connection, limit: SessionChannel.hostLimit)
        cancellation = try CancellationEvent(of: limits.operation.cancellation)
        let output = ProcessOutput(of: process, handler: handler)
        self.output = output
        gracePeriod = limits.gracePeriod
        watch = SessionWatch(limits, observer: observer, name: name) {
            SignsOfLife.Look(
                at: process,
                printed: { output.readBytes },
                room,
                on: limits.operation
            )
        }
    }

    /// Whether the process was told to stop, or is about to be.
    var isCancelled: Bool { watch.isCancelled }

    /// The error of the session for an error that the extension threw.
    func failure(of error: any Error) -> any Error { watch.failure(of: error) }

    /// Stops the process and its child processes, and returns how it ended.
    ///
    /// - Throws: ``MigrationError`` of code `sessionFailed` if some of them may still run, and of
    ///   code `limitExceeded` if they left too many temporary files.
    @discardableResult
    func end() throws(MigrationError) -> ProcessEnding {
        defer { output.end() }
        let ending: ProcessEnding
        do throws(ChildProcess.UnfinishedEnd) {
            ending = try process.terminate()
        } catch {
            let message = "processes that \(name) started may still run"
            throw MigrationError(.sessionFailed, message, cause: error)
        }
        try bounds.look(name)
        return ending
    }

    /// Stops the process if it exceeds its limits.
    ///
    /// - Throws: ``MigrationError`` of code `limitExceeded`, on this and every later call.
    func checkBounds() throws(MigrationError) {
        do {
            try bounds.check(name)
        } catch {
            // The session's end terminates again, and reports processes that still run.
            _ = try? process.terminate()
            throw error
        }
    }
}

// MARK: - Messages

extension ExtensionConnection {
    /// Sends a message, unless the process does not read for too long.
    func send(_ message: HostMessage) throws {
        let bytes = try message.encoded()
        var sent = 0
        do {
            // A process that does not read must not block the host forever.
            while true {
                sent += try channel.sendSome(bytes, from: sent)
                if sent == bytes.count { return }
                try checkBounds()
                if try watch.check() { throw CancellationError() }
                _ = try wait(for: .room)
            }
        } catch let error as SystemError where error.isBrokenPipe || error.isConnectionReset {
            throw try failureOfProcess()
        }
    }

    /// Waits for the next message.
    func next() throws -> ExtensionMessage {
        while true {
            if let message = try received() { return message }
            try waitForMore()
        }
    }

    /// The next message that has arrived completely.
    func received() throws -> ExtensionMessage? {
        try checkBounds()
        do {
            guard let (kind, payload) = try channel.nextMessage() else { return nil }
            return try ExtensionMessage(kind: kind, payload: payload)
        } catch let error as MigrationError {
            throw MigrationError(error.code, "\(name) sent an invalid message: \(error.message)")
        }
    }

    /// Waits until more has arrived, and watches the process meanwhile.
    func waitForMore() throws {
        while true {
            try checkBounds()
            if try watch.check() { try send(.cancel) }
            let events = try wait(for: [.message, .exit])
            if events.contains(.message) {
                guard try receive() else { throw try failureOfProcess() }
                return
            }
            if events.contains(.exit) { throw try failureOfProcess() }
        }
    }

    /// Waits for `events`, a cancellation or the next limit, and reads the output meanwhile.
    private func wait(for events: ChildProcess.Events) throws(SystemError) -> ChildProcess.Events {
        let events = try process.wait(
            for: output.isAtEnd ? events : events.union(.output),
            timeout: min(watch.timeLeft, bounds.timeToNextLook),
            or: watch.awaitsCancellation ? cancellation : nil
        )
        if events.contains(.output) { output.drain() }
        return events
    }

    private func receive() throws(SystemError) -> Bool {
        do {
            return try channel.receiveSome()
        } catch  where error.isConnectionReset {
            // The connection ends like this if the process died with unread messages.
            return false
        }
    }
}

// MARK: - Its end

extension ExtensionConnection {
    /// The error for a process that ended or closed its connection.
    private func failureOfProcess() throws -> any Error {
        let ending = try endingOfItsOwn()
        do {
            try end()
        } catch {
            return error
        }
        if let failure = bounds.failure(of: name) { return failure }
        if watch.isCancelled { return CancellationError() }
        let message: String
        switch ending {
        case nil: message = "\(name) closed its connection before it was done, but still runs"
        case .exited(let code): message = "\(name) ended before it was done, with code \(code)"
        case .signaled(let number):
            let signal = ProcessEnding.name(ofSignal: number)
            message = "\(name) crashed: signal \(number) (\(signal))"
        }
        let cause = bounds.possibleCause
        return MigrationError(
            .extensionCrashed,
            message + (cause.map { "; \($0.text)" } ?? ""),
            printedLines: output.lastLines,
            remedy: cause?.remedy
        )
    }

    /// How the process ended; `nil` if it still runs after the grace period.
    ///
    /// A process closes its connection shortly before it ends.
    private func endingOfItsOwn() throws(SystemError) -> ProcessEnding? {
        let deadline = SuspendingClock.now + gracePeriod
        while process.ending == nil, !watch.isCancelled, SuspendingClock.now < deadline {
            _ = try wait(for: .exit)
        }
        return process.ending
    }
}

// MARK: - The output of the process

/// The output of an extension's process in lines: shows the first ones and counts the rest.
private final class ProcessOutput {
    private static let lineLimit = 4 << 10
    private static let readsAtOnce = 16
    private static let keptLines = 5

    /// The maximum output of a session to show.
    private static let shownBytes = 1 << 20
    private static let shownLines = 1 << 14

    private let process: ChildProcess
    private let handler: (@Sendable (String) -> Void)?
    private var line: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    private var isInStackTrace = false
    private var lines = 0
    private var bytes = 0
    private var unshownBytes: UInt64 = 0
    private var last: [[UInt8]] = []

    /// Whether the output has ended.
    private(set) var isAtEnd = false

    /// The bytes that were read.
    private(set) var readBytes: UInt64 = 0

    /// The last lines, printable.
    var lastLines: [String] { last.map { PrintableText.escaping($0) } }

    init(of process: ChildProcess, handler: (@Sendable (String) -> Void)?) {
        self.process = process
        self.handler = handler
    }

    /// Reads the available output, a limited amount at a time, without waiting.
    func drain() {
        for _ in 0..<Self.readsAtOnce {
            guard let count = read() else { break }
            isAtEnd = count == 0
            readBytes += UInt64(count)
            if isAtEnd { break }
            for byte in buffer[..<count] { append(byte) }
        }
        if !line.isEmpty, process.ending != nil { endLine(ended: false) }
    }

    /// Reads once; returns `nil` if there is no output now, and 0 at its end.
    private func read() -> Int? {
        do throws(SystemError) {
            return try process.output.descriptor.read(
                into: &buffer,
                from: 0,
                count: buffer.count
            )
        } catch {
            return nil
        }
    }

    private func append(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") { return endLine(ended: true) }
        if line.count == Self.lineLimit { endLine(ended: false) }
        line.append(byte)
    }

    private func endLine(ended: Bool) {
        defer { line.removeAll(keepingCapacity: true) }
        // Swift's runtime adds a stack trace to a fatal error, which would displace the error
        // itself.
        isInStackTrace = isInStackTrace || line.starts(with: "Current stack trace:".utf8)
        if !isInStackTrace { last.append(line) }
        if last.count > Self.keptLines { last.removeFirst() }
        show(ended: ended)
    }

    private func show(ended: Bool) {
        guard let handler else { return }
        let text = unshownBytes == 0 ? PrintableText.escaping(line) : ""
        lines += 1
        bytes += text.utf8.count + 1
        guard unshownBytes == 0, lines <= Self.shownLines, bytes <= Self.shownBytes else {
            unshownBytes += UInt64(line.count + (ended ? 1 : 0))
            return
        }
        handler(text)
    }

    /// Reports once how much output was not shown.
    func end() {
        drain()
        guard unshownBytes > 0 else { return }
        handler?("(\(unshownBytes) more bytes of output are not shown)")
        unshownBytes = 0
    }
}
