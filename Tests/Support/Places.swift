internal import Foundation
package import TestTrees

/// The places of a test's containers and archives.
package struct Places {
    package let root: BytePath
    package let source: BytePath
    package let archive: BytePath
    package let destination: BytePath

    /// Whether the destination is a bundle, and not a container.
    package let isBundle: Bool

    /// Makes an empty source; the other places stay missing.
    package init(bundle: BytePath? = nil) throws {
        root = try BytePath.scratch
        source = root / "source"
        archive = root / "app.migration"
        destination = root / (bundle ?? "destination")
        isBundle = bundle != nil
        try source.makeDirectory()
    }

    /// Makes a destination with data, and returns its contents.
    @discardableResult
    package func makeOldDestination() throws -> TreeSnapshot {
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
    package func renewOldDestination() throws -> TreeSnapshot {
        if destination.exists { try FileManager.default.removeItem(at: destination.url) }
        return try makeOldDestination()
    }

    /// The token of the destination's last import, from its record, or from one that is made for
    /// this.
    package func stagingToken(ofNewRecord isNew: Bool = false) throws -> BytePath {
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

    /// The data of a container, which has the form of the destination.
    package func data(of container: BytePath) -> BytePath {
        isBundle ? container / "AppData" : container
    }

    /// The contents of a container, without the bookkeeping.
    package func contents(of container: BytePath) throws -> TreeSnapshot {
        try TreeSnapshot(of: data(of: container), excluding: [".migration"])
    }

    /// The contents of the destination's bookkeeping without its identity, which stays; empty if
    /// there is none.
    package func bookkeepingNames() throws -> [BytePath] {
        let bookkeeping = destination / ".migration"
        guard bookkeeping.exists else { return [] }
        return try bookkeeping.names().filter { $0 != "identity.json" }
    }
}
