internal import Foundation
@testable internal import MigrationArchive
@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationCore
@testable internal import MigrationHosting
@testable internal import MigrationSystem

/// A container in memory, files outside of it, and messages that reach for both.
public struct SessionGround: Sendable {
    private static let secret = "what no extension may export"
    private static let identifier = "com.example.fuzz"

    private let root: URL
    private var container: URL { root.appending(path: "container") }
    private var containerPath: [UInt8] { [UInt8](container.path.utf8) }

    // Safe because libFuzzer calls a target on one thread only.
    nonisolated(unsafe) private static var output: CInt = -1

    /// Makes the container of this process.
    public init() {
        root = URL(filePath: FuzzTarget.groundPath + "/session")
        do {
            let files = FileManager.default
            for directory in ["outside", "container/Documents/d", "container/.migration"] {
                let url = root.appending(path: directory)
                try files.createDirectory(at: url, withIntermediateDirectories: true)
            }
            for place in ["outside/secret", "container/.migration/secret"] {
                try Data(Self.secret.utf8).write(to: root.appending(path: place))
            }
            for place in ["Documents/a", "Documents/d/b", "c"] {
                try Data(place.utf8).write(to: container.appending(path: place))
            }
            let link = container.appending(path: "out")
            try files.createSymbolicLink(
                at: link,
                withDestinationURL: root.appending(path: "outside")
            )
        } catch {
            fatalError("no container: \(error)")
        }
    }

    /// The bytes of the messages that `script` means.
    public func messages(of script: [UInt8]) -> [UInt8] {
        MessageScript.bytes(of: script, container: containerPath)
    }

    /// Handles an extension's messages as a host does, but without a process.
    public func takeAsHost(_ bytes: [UInt8], inPiecesOf size: Int) throws {
        let limit = SessionChannel.hostLimit
        let progress = ReportedProgress(in: Progress(totalUnitCount: -1))
        try MessageFeed.feed(bytes, inPiecesOf: size, limit: limit) { kind, payload in
            let message = try ExtensionMessage(kind: kind, payload: payload)
            SessionPromises.check(message)
            switch message {
            case .failed(let error): _ = "\(error.carried)"
            case .progress(let shown): progress.show(shown.units.completed, of: shown.units.total)
            default: break
            }
        }
    }

    /// Handles a host's messages as an extension's process does.
    public func takeAsExtension(_ bytes: [UInt8], inPiecesOf size: Int) throws {
        let limit = SessionChannel.extensionLimit
        try MessageFeed.feed(bytes, inPiecesOf: size, limit: limit) { kind, payload in
            let message = try HostMessage(kind: kind, payload: payload)
            SessionPromises.check(message)
            switch message {
            case .begin(let start): _ = ExtensionContext(start, changingGrantsBy: nil)
            case .rejected(_, let error): _ = "\(error.carried)"
            default: break
            }
        }
    }
}

// MARK: - Appends

extension SessionGround {
    /// Archives the items that the messages append, and checks that nothing else gets into the
    /// archive.
    public func archive(_ bytes: [UInt8], inPiecesOf size: Int) throws {
        let operation = MigrationOperation()
        let file = Self.emptyFile()
        let writer = try ArchiveWriter(
            writingTo: ArchiveOutput(
                writing: FileDescriptor(adopting: dup(file)),
                on: operation
            ),
            header: Self.header,
            level: 1,
            on: operation
        )
        var isFinished = false
        defer { if !isFinished { writer.abandon() } }
        let items = try appendedItems(to: writer, on: operation)
        let limit = SessionChannel.hostLimit
        try MessageFeed.feed(bytes, inPiecesOf: size, limit: limit) { kind, payload in
            try Self.take(ExtensionMessage(kind: kind, payload: payload), into: items)
        }
        try items.finish()
        isFinished = true
        let summary = try writer.finish()
        try check(summary, in: file)
    }

    private static func take(_ message: ExtensionMessage, into items: AppendedItemArchiver) throws {
        guard case .append(let answer, let source, let name) = message else { return }
        guard answer != nil else { return try items.appendSoon(source, as: name) }
        do {
            try items.append(source, as: name)
        } catch {
            // The process gets an error after which the export may continue.
            guard items.failure == nil else { throw error }
        }
    }

    private func appendedItems(
        to writer: ArchiveWriter,
        on operation: MigrationOperation
    ) throws -> AppendedItemArchiver {
        var roots = SourceRoots()
        try roots.add(BytePath(containerPath), .container)
        let archiver = ItemArchiver(
            writingTo: writer,
            outputIdentity: nil,
            on: operation
        )
        return AppendedItemArchiver(to: archiver, from: roots, observer: SessionObserver())
    }

    /// The content is stored as it is, so that the secret can be looked for.
    private static let header = ArchiveHeader(
        bundleIdentifier: identifier,
        platform: "linux",
        resourcesVersion: "1",
        sizeEstimate: 1,
        isCompressible: false,
        creator: "fuzz"
    )

    private func check(_ summary: ArchiveWriter.Summary, in file: CInt) throws {
        let size = Int(summary.archiveBytes)
        var bytes = [UInt8](repeating: 0, count: size)
        guard pread(file, &bytes, size, 0) == size else { fatalError("the archive can't be read") }
        let isOutside = Data(bytes).range(of: Data(Self.secret.utf8)) != nil
        FuzzTarget.require(!isOutside, "nothing is archived that lies outside")
        do {
            let descriptor = dup(file)
            defer { close(descriptor) }
            _ = try Blocking.run {
                try await ArchiveSource.descriptor(descriptor)
                    .verify(externalLinks: .keep, threadCount: 1)
            }
        } catch {
            fatalError("broken promise: what was archived can be read: \(error)")
        }
        if summary.totals.files > 0 { Milestones.reach(SessionPromises.itemArchived) }
    }

    private static func emptyFile() -> CInt {
        if output < 0 { output = InputDescriptor.unnamedFile() }
        guard ftruncate(output, 0) == 0, lseek(output, 0, SEEK_SET) == 0 else {
            fatalError("the archive can't be emptied")
        }
        return output
    }
}
