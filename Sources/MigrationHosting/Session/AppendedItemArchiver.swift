internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// Archives the items that an extension appends, from any process.
///
/// If an item fails after part of it was archived, the export can't succeed any more, even if the
/// extension handles the error.
final class AppendedItemArchiver {
    private let archiver: ItemArchiver
    private let observer: SessionObserver
    private var roots: SourceRoots
    private let beforeAppend: () throws -> Void

    /// Why the export can't succeed any more.
    private(set) var failure: (any Error)?

    /// Archives items in `roots` with `archiver`; if `beforeAppend` throws, so does the append.
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
    ///
    /// A file of the container is read later; if that fails, the export can't succeed any more.
    func append(_ source: BytePath, as name: [UInt8]) throws {
        if let failure { throw failure }
        try beforeAppend()
        let before = archiver.entryCount
        do {
            let location = try roots.locate(source)
            let path = EntryPath(meantBy: name).bytes
            try location.checkIsReadable(at: path)
            let bytes = try archive(location, as: path)
            observer.noteAppend(of: bytes, from: location.kind, path)
            noteName(name, for: path, of: source)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if archiver.entryCount != before { failure = error }
            throw advised(error, on: source)
        }
    }

    /// Appends the file at `source` under `name`.
    ///
    /// If it fails, the export can't succeed any more.
    func appendSoon(_ source: BytePath, as name: [UInt8]) throws {
        if let failure { throw failure }
        try beforeAppend()
        try failing {
            let location = try roots.locate(source)
            guard location.kind == .container, location.name != nil else {
                return try append(source, as: name)
            }
            let path = EntryPath(meantBy: name).bytes
            _ = try archive(location, as: path)
            noteName(name, for: path, of: source)
        }
    }

    /// Archives everything, after the last append.
    func finish() throws {
        if let failure { throw failure }
        try failing { try archiver.finish() }
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

    /// Archives the item at `location` as `path`; returns the bytes of content of a file.
    private func archive(_ location: SourceRoots.Location, as path: [UInt8]) throws -> UInt64 {
        let (start, before) = (SuspendingClock.now, archiver.contentBytes)
        let bytes = try archiver.appendItem(at: location, as: path)
        observer.noteItem(of: archiver.contentBytes &- before, path, since: start)
        return bytes
    }

    private func noteName(_ name: [UInt8], for path: [UInt8], of source: BytePath) {
        if MistakenPath.isEncoded(path, of: source) {
            observer.note(PrintableText.escaping(path), as: \.encodedNames)
        }
        if name != path { observer.note(PrintableText.escaping(name), as: \.shortenedNames) }
    }

    /// The error of an append, with the path that the extension must have meant, if that is clear.
    private func advised(_ error: any Error, on source: BytePath) -> any Error {
        guard failure == nil, let mistake = MistakenPath(source, in: roots) else { return error }
        observer.note("\(PrintableText.escaping(source)) \(mistake.advice)", as: \.misnamed)
        let code = (error as? MigrationError)?.code ?? .invalidPath
        return MigrationError(code, mistake.advice, path: source)
    }

    /// Makes every append fail from now on.
    func close(because error: any Error) {
        if failure == nil { failure = error }
    }
}

extension SourceRoots.Location {
    /// Throws if a file that will be read later can't be read, so that the extension can continue
    /// without it.
    fileprivate func checkIsReadable(at path: [UInt8]) throws {
        guard kind == .container, let name else { return }
        do throws(SystemError) {
            guard try directory.descriptor.status(of: name).kind == .regular else { return }
            _ = try directory.descriptor.openFile(name)
        } catch {
            // The next check finds missing items.
            guard !error.isMissing else { return }
            throw SourceWalker.unreadable(path, error)
        }
    }
}

// MARK: - Mistaken paths

/// A path with nothing at it, because it was taken from a URL in the wrong way.
private struct MistakenPath {
    private enum Mistake {
        case encoded
        case relative
    }

    private let mistake: Mistake

    let intended: BytePath

    /// Finds the item in `roots` that `path` was meant to name; `nil` if something is at the path
    /// itself, or if no known mistake explains it.
    init?(_ path: BytePath, in roots: SourceRoots) {
        var roots = roots
        guard !roots.hasItem(at: path) else { return nil }
        let decoded = BytePath(path.bytes[...].percentDecoded)
        if decoded != path, roots.hasItem(at: decoded) {
            (mistake, intended) = (.encoded, decoded)
            return
        }
        let candidates = roots.baseDirectories.lazy.compactMap { base in
            path.moved(from: base.parent, to: base)
        }
        guard let found = candidates.first(where: { roots.hasItem(at: $0) }) else { return nil }
        (mistake, intended) = (.relative, found)
    }

    /// The mistake and its fix.
    var advice: String {
        let path = PrintableText.escaping(intended)
        switch mistake {
        case .encoded:
            return "doesn't exist, but \(path) does: use path(percentEncoded: false) of a URL"
        case .relative:
            return "doesn't exist, but \(path) does: make the URL with appending(path:), because "
                + "URL(filePath:relativeTo:) treats a base without a final slash as a file"
        }
    }

    /// Whether `name`, in the archive, is the percent-encoded end of `source`.
    static func isEncoded(_ name: [UInt8], of source: BytePath) -> Bool {
        guard name.contains(UInt8(ascii: "%")) else { return false }
        let components = zip(BytePath(name).components.reversed(), source.components.reversed())
        guard let (archived, own) = components.first(where: { $0 != $1 }) else { return false }
        return archived.percentDecoded == [UInt8](own)
    }
}

extension SourceRoots {
    /// Whether an item that may be exported is at `path`.
    fileprivate mutating func hasItem(at path: BytePath) -> Bool {
        do {
            let location = try locate(path)
            guard let name = location.name else { return true }
            _ = try location.directory.descriptor.status(of: name)
            return true
        } catch {
            return false
        }
    }
}
