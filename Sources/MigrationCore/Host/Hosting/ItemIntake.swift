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
        archiver.checkPaths()
    }

    /// Appends the item at `source` under `name`.
    func append(_ source: ByteString, as name: ByteString) throws {
        if let failure { throw failure }
        try beforeAppend()
        let before = archiver.entryCount
        do {
            let location = try roots.locate(source)
            let bytes = try archiver.appendItem(at: location, as: name)
            observer.noteAppend(of: bytes, from: location.kind, name)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if archiver.entryCount != before { failure = error }
            throw error
        }
    }

    /// Makes every append fail from now on.
    func close(because error: any Error) {
        if failure == nil { failure = error }
    }
}
