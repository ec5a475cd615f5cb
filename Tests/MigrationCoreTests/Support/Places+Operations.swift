import Foundation
import MigrationCore
import Synchronization
import TestSupport

// Short forms of operations on the places of a test.

extension Places {
    /// The differences between the archive, or `source`, and the destination: at `paths` or everywhere.
    ///
    /// `body` is called at each.
    func differences(
        at paths: [String],
        of source: ArchiveSource? = nil,
        progress: Progress? = nil,
        _ body: @escaping @Sendable () -> Void = {}
    ) async throws -> [ArchiveDifference] {
        let found = Mutex<[ArchiveDifference]>([])
        var selection = EntrySelection()
        selection.named = paths.map { EntryPath($0) }
        _ = try await MigrationHost().compare(
            .archive(source ?? .file(path: archive)),
            with: .container(destinationContainer),
            only: selection,
            includesCaches: false,
            progress: progress
        ) { difference in
            body()
            found.withLock { $0.append(difference) }
        }
        return found.withLock { $0 }
    }

    /// Makes a source that holds the varied tree, and its archive.
    static func withVariedArchive() async throws -> Places {
        let places = try Places()
        try VariedTree.make(in: places.source)
        try await places.exportSource()
        return places
    }

    /// Makes a source whose archive has three frames, most of its bytes in the last one.
    static func withLongArchive() async throws -> Places {
        let places = try Places()
        try (places.source / "a-zeros").write("")
        try (places.source / "a-zeros").truncate(to: 9 << 20)
        try (places.source / "noise").write(VariedTree.noise(100_000))
        try (places.source / "z").makeDirectory()
        try (places.source / "z/last").write("last")
        try await places.exportSource()
        return places
    }

    /// Makes a source that holds three small files, and its archive.
    static func withSmallArchive(bundle: BytePath? = nil) async throws -> Places {
        let places = try Places(bundle: bundle)
        try (places.source / "Documents").makeDirectory()
        try (places.source / "Documents/new").write("new")
        try (places.source / "Documents/same").write("of the archive")
        try (places.source / "top").write("top")
        var options = ExportOptions()
        options.bundleIdentifier = "source"
        try await places.exportSource(options: options)
        return places
    }

    @discardableResult
    func exportSource(
        to path: BytePath? = nil,
        options: ExportOptions = ExportOptions(),
        replacing: Bool = false,
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await MigrationHost().export(
            MigrationDataContainer(atPath: source),
            to: .file(path: path ?? archive, replacesExisting: replacing),
            options: options,
            progress: progress
        )
    }

    @discardableResult
    func importArchive(
        from path: BytePath? = nil,
        replacing: Bool = false,
        identifier: String? = nil,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        var options = options
        options.replacesExisting = replacing
        return try await MigrationHost().import(
            .file(path: path ?? archive),
            into: MigrationDataContainer(atPath: destination, bundleIdentifier: identifier),
            options: options,
            progress: progress
        )
    }

    /// The destination as a container.
    var destinationContainer: MigrationDataContainer {
        get throws { try MigrationDataContainer(atPath: destination) }
    }
}
