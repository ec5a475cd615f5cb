internal import MigrationSystem

/// Takes the items that an extension appends into an archive, whatever process they are named in.
///
/// Once an item failed of which part was archived, the export can't succeed any more, whatever the
/// extension does about the error.
final class ItemIntake {
    private let archiver: ItemArchiver
    private let observer: SessionObserver
    private var roots: SourceRoots
    private let beforeAppend: () throws -> Void

    /// Why the export can't succeed any more.
    private(set) var failure: (any Error)?

    /// Takes items from `roots` to `archiver`; an error of `beforeAppend` is that of the append.
    init(
        to archiver: ItemArchiver,
        from roots: SourceRoots,
        observer: SessionObserver,
        beforeAppend: @escaping () throws -> Void = {}
    ) {
        self.beforeAppend = beforeAppend
        self.archiver = archiver
        self.roots = roots
        self.observer = observer
        archiver.entries.checkPaths()
    }

    /// Appends the item at `source` under `name`.
    func append(_ source: ByteString, as name: ByteString) throws {
        try settle()
        try beforeAppend()
        let before = archiver.entries.entryCount
        do {
            let location = try roots.locate(source)
            let bytes = try archiver.appendItem(at: location, as: name)
            observer.noteAppend(of: bytes, from: location.kind, name)
            noteName(name, of: source)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if archiver.entries.entryCount != before { failure = error }
            throw advised(error, on: source)
        }
    }

    /// Appends the file at `source` under `name` at the latest when ``settle()`` is called.
    ///
    /// Whatever goes wrong with it, the export can't succeed any more.
    func appendSoon(_ source: ByteString, as name: ByteString) throws {
        if let failure { throw failure }
        try beforeAppend()
        try failing {
            let location = try roots.locate(source)
            guard location.kind == .container, let file = location.name else {
                return try append(source, as: name)
            }
            let path = try ItemArchiver.path(name)
            let unread = UnreadFile(path: path, directory: location.directory, name: file)
            try archiver.appendSoon(.file(unread))
            noteName(name, of: source)
        }
    }

    /// Appends what is still to be appended.
    func settle() throws {
        if let failure { throw failure }
        try failing { try archiver.settle() }
    }

    private func failing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            failure = error
            throw error
        }
    }

    private func noteName(_ name: ByteString, of source: ByteString) {
        if MistakenPath.isEncoded(name, of: source) { observer.noteEncodedName(name) }
    }

    /// The error of an append, with what the extension must have meant where that is plain.
    private func advised(_ error: any Error, on source: ByteString) -> any Error {
        guard failure == nil, let mistake = MistakenPath(source, in: roots) else { return error }
        observer.noteMisnamed(source, mistake.advice)
        let code = (error as? MigrationError)?.code ?? .invalidPath
        return MigrationError(code, mistake.advice, path: source)
    }

    /// Makes every append fail from now on.
    func close(because error: any Error) {
        if failure == nil { failure = error }
    }
}
