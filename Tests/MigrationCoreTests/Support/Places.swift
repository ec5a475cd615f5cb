import Foundation
import MigrationCore
import TestSupport

/// The places of a test's containers and archives, and short forms of operations on them.
struct Places {
    let root: BytePath
    let source: BytePath
    let archive: BytePath
    let destination: BytePath

    /// Whether the destination is a bundle, and not a container.
    let isBundle: Bool

    /// Makes an empty source; the other places stay missing.
    init(bundle: BytePath? = nil) throws {
        root = try BytePath.scratch
        source = root / "source"
        archive = root / "app.migration"
        destination = root / (bundle ?? "destination")
        isBundle = bundle != nil
        try source.makeDirectory()
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

    /// Makes a destination with data, and returns its contents.
    @discardableResult
    func makeOldDestination() throws -> TreeSnapshot {
        try destination.makeDirectory()
        let data = data(of: destination)
        if isBundle {
            try data.makeDirectory()
            let info = "<plist version=\"1.0\"><dict/></plist>"
            try (destination / "AppDataInfo.plist").write(info)
        }
        try (data / "Documents").makeDirectory()
        try (data / "Documents/old").write("old")
        try (data / "Documents/same").write("of the old container")
        try (data / "Library").makeDirectory()
        try (data / "Library/locked").makeDirectory()
        try (data / "Library/locked/file").write("locked")
        try (data / "Library/locked").setMode(0o500)
        try (data / "link").makeSymbolicLink(to: "Documents")
        return try contents(of: destination)
    }

    /// Removes the destination, and makes one with data in its place.
    func renewOldDestination() throws -> TreeSnapshot {
        if destination.exists { try FileManager.default.removeItem(at: destination.url) }
        return try makeOldDestination()
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

    /// The token of the destination's last import, from its record, or from one that is made for
    /// this.
    func stagingToken(ofNewRecord isNew: Bool = false) throws -> BytePath {
        let record = destination / ".migration/import-status.json"
        let token = "7D1C1B0A-5F5E-4D0B-8B7B-0C9F6E3A2D11"
        if isNew {
            if !(destination / ".migration").exists {
                try (destination / ".migration").makeDirectory()
            }
            let date = "2026-03-04T05:06:07Z"
            try record.write(
                #"{"version":1,"outcome":"interrupted","date":"\#(date)","staging":"\#(token)"}"#
            )
            return BytePath([UInt8](token.utf8))
        }
        let fields = try JSONSerialization.jsonObject(with: record.contents()) as? [String: Any]
        return BytePath([UInt8]((fields?["staging"] as? String ?? "").utf8))
    }

    /// The destination as a container.
    var destinationContainer: MigrationDataContainer {
        get throws { try MigrationDataContainer(atPath: destination) }
    }

    /// The data of a container, which has the form of the destination.
    func data(of container: BytePath) -> BytePath {
        isBundle ? container / "AppData" : container
    }

    /// The contents of a container, without the bookkeeping.
    func contents(of container: BytePath) throws -> TreeSnapshot {
        try TreeSnapshot(of: data(of: container), excluding: [".migration"])
    }

    /// The contents of the destination's bookkeeping without its identity, which stays; empty if
    /// there is none.
    func bookkeepingNames() throws -> [BytePath] {
        let bookkeeping = destination / ".migration"
        guard bookkeeping.exists else { return [] }
        return try bookkeeping.names().filter { $0 != "identity.json" }
    }
}
