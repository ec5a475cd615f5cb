internal import MigrationArchive
internal import MigrationContract
internal import MigrationSystem

/// Sends the items that an extension appends to its host, which archives them.
final class RemoteAppends: AppendDestination {
    private typealias Answer = CheckedContinuation<Void, any Error>

    private struct State {
        var ahead: AppendAhead?
        var lastNumber: UInt32 = 0
        var waiting: [UInt32: Answer] = [:]
        /// The reason why nothing can be appended any more.
        var failure: (any Error)?
        var wasCancelled = false

        mutating func checkIsOpen() throws {
            guard let failure else { return }
            wasCancelled = wasCancelled || failure is CancellationError
            throw failure
        }

        mutating func makeNumber() throws -> UInt32 {
            try checkIsOpen()
            lastNumber &+= 1
            return lastNumber
        }
    }

    private let channel: SessionChannel
    private let state: Monitor<State>

    /// Sends through `channel`, and appends files in `container` by `policy`.
    init(
        sendingThrough channel: SessionChannel,
        container: BytePath,
        policy: AppendPolicy
    ) throws(SystemError) {
        self.channel = channel
        let ahead = policy == .ahead ? try AppendAhead(container: container) : nil
        state = Monitor(State(ahead: ahead))
    }

    /// Whether an append threw because the session was cancelled.
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func append(itemAt source: BytePath, as name: [UInt8]) async throws {
        if try isCertain(source, as: name) { return try send(source, as: name, answer: nil) }
        try await withCheckedThrowingContinuation { answer in
            do {
                let number = try register(answer)
                do {
                    try send(source, as: name, answer: number)
                } catch {
                    resolve(number, with: .failure(error))
                }
            } catch {
                answer.resume(throwing: error)
            }
        }
        state.withLock { $0.ahead?.insert(source, as: name) }
    }

    /// Passes the host's answer to the append that waits for it.
    func resolve(_ number: UInt32, with result: Result<Void, any Error>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(with: result)
    }

    /// Makes every append fail from now on, including those that wait.
    func cancel() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.failure = CancellationError()
            state.wasCancelled = state.wasCancelled || !state.waiting.isEmpty
            return state.waiting.values
        }
        for answer in waiting { answer.resume(throwing: CancellationError()) }
    }

    private func isCertain(_ source: BytePath, as name: [UInt8]) throws -> Bool {
        try state.withLock { state in
            guard state.ahead?.accept(source, as: name) ?? false else { return false }
            try state.checkIsOpen()
            return true
        }
    }

    private func register(_ answer: Answer) throws -> UInt32 {
        try state.withLock { state in
            let number = try state.makeNumber()
            state.waiting[number] = answer
            return number
        }
    }

    private func send(_ source: BytePath, as name: [UInt8], answer: UInt32?) throws {
        let message = ExtensionMessage.append(answer: answer, source: source, name: name)
        let bytes = try message.encoded()
        if answer == nil { try channel.sendSoon(bytes) } else { try channel.send(bytes) }
    }
}

// MARK: - Appending ahead

/// Decides in an extension's process which appends are certain to succeed, for
/// ``AppendPolicy/ahead``.
private struct AppendAhead {
    private let container: BytePath
    private let root: OpenFile
    private let user = FileStatus.currentUser
    private var paths = ArchivedPaths()
    /// Directories that were appended as a whole; only the host knows the files in them.
    private var trees: Set<EntryPath> = []
    private var last: (path: ArraySlice<UInt8>, directory: OpenFile)?

    /// Checks files in the container at `container`, an absolute path without links.
    init(container: BytePath) throws(SystemError) {
        self.container = container
        root = OpenFile(try FileDescriptor.open(container, .directory))
    }

    /// Returns whether the host is certain to archive the item at `source` under `name`, and records it if so.
    mutating func accept(_ source: BytePath, as name: [UInt8]) -> Bool {
        let path = EntryPath(meantBy: name)
        guard path.violation == nil, !liesInTree(path), isReadableFile(source) else { return false }
        return insert(path, isDirectory: false)
    }

    /// Records an item that the host has archived.
    mutating func insert(_ source: BytePath, as name: [UInt8]) {
        let path = EntryPath(meantBy: name)
        let isDirectory = isDirectory(source)
        _ = insert(path, isDirectory: isDirectory)
        if isDirectory { trees.insert(path) }
    }

    private mutating func insert(_ path: EntryPath, isDirectory: Bool) -> Bool {
        do {
            _ = try paths.insert(path, isDirectory: isDirectory)
            return true
        } catch {
            return false
        }
    }

    private func liesInTree(_ path: EntryPath) -> Bool {
        guard !trees.isEmpty else { return false }
        var next: EntryPath? = path
        while let ancestor = next {
            if trees.contains(ancestor) { return true }
            next = ancestor.parent
        }
        return false
    }

    private func isDirectory(_ source: BytePath) -> Bool {
        do {
            return try FileDescriptor.status(atPath: source).kind == .directory
        } catch {
            // Its kind is unknown, so every append beneath its name must wait.
            return true
        }
    }

    private mutating func isReadableFile(_ source: BytePath) -> Bool {
        let bytes = source.bytes
        guard let end = bytes.lastIndex(of: UInt8(ascii: "/")), end >= container.bytes.count else {
            return false
        }
        let parent = bytes[..<end]
        let name = bytes[(end + 1)...]
        do throws(SystemError) {
            let directory = try self.directory(at: parent)
            guard let status = try directory?.descriptor.status(of: name) else { return false }
            return status.kind == .regular && status.isReadableByBits(to: user)
        } catch {
            return false
        }
    }

    private mutating func directory(
        at path: ArraySlice<UInt8>
    ) throws(SystemError) -> OpenFile? {
        if let last, last.path.span.isEqual(to: path.span) { return last.directory }
        guard let rest = BytePath(path).rest(from: container) else { return nil }
        if rest.isEmpty { return root }
        let relative = BytePath(rest.dropFirst())
        let first = relative.components.first { !$0.elementsEqual(".".utf8) }
        guard first != ContainerLayout.bookkeepingName[...] else { return nil }
        let directory = OpenFile(try root.descriptor.openDirectoryBeneath(relative))
        last = (path, directory)
        return directory
    }
}
