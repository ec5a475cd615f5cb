import Foundation
import MigrationCore

/// Archives a folder and a text from memory, and reads both again, with no container.
@main
struct Archiver {
    static func main() {
        do {
            let scratch = FileManager.default.temporaryDirectory
                .appending(path: "archiver-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            try archiveAndRead(in: scratch)
        } catch {
            FileHandle.standardError.write(Data("archiver: error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func archiveAndRead(in scratch: URL) throws {
        let folder = scratch.appending(path: "recipes", directoryHint: .isDirectory)
        try makeRecipes(in: folder)
        let archive = scratch.appending(path: "recipes.tar.zst")
        let fingerprint = try write(folder, to: archive)
        print("archived  fingerprint \(fingerprint)")
        try read(archive, expecting: fingerprint)
    }

    private static func makeRecipes(in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in [("bread.txt", "flour, water, salt"), ("Tea.txt", "tea, water")] {
            let file = folder.appending(path: name)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    /// Archives the files in `folder`, and an index of them that exists in memory only.
    private static func write(_ folder: URL, to archive: URL) throws -> Fingerprint {
        let header = ArchiveHeader(
            bundleIdentifier: "com.example.recipes",
            platform: "linux",
            resourcesVersion: "1",
            sizeEstimate: 0,
            isCompressible: true,
            creator: "archiver example"
        )
        let writer = try ArchiveWriter(creating: archive, header: header)

        // Entries come in tree order: the names in a directory in the order of their bytes.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let paths = names.map { EntryPath("recipes/\($0)") }.sorted { $0.precedesInTree($1) }
        let index = [UInt8](names.sorted().joined(separator: "\n").utf8)
        try writer.append(
            ArchiveEntry(
                path: EntryPath("index.txt"),
                kind: .file(size: UInt64(index.count)),
                permissions: 0o644,
                modificationTime: FileTime(seconds: 1_700_000_000)
            ),
            content: index.span
        )
        try writer.append(fileAt: folder, as: EntryPath("recipes"))
        for path in paths {
            let file = folder.deletingLastPathComponent().appending(path: path.description)
            try writer.append(fileAt: file, as: path)
        }

        // The file appears under its name now, and never incomplete.
        return try writer.finish().fingerprint
    }

    /// Reads every entry; reaching the end proves that the archive is complete.
    private static func read(_ archive: URL, expecting fingerprint: Fingerprint) throws {
        let reader = try ArchiveReader(archive)
        while let entry = try reader.next() {
            var bytes = 0
            try reader.readContent { _, piece in bytes += piece.count }
            print("read      \(entry.path), \(bytes) bytes")
        }
        guard reader.fingerprint == fingerprint, reader.totals?.files == 3 else {
            throw ArchiverError(description: "the archive is not the one that was written")
        }
        print("proved    \(archive.lastPathComponent) is whole")
    }
}

/// The example did not do what it shows.
struct ArchiverError: Error, CustomStringConvertible {
    let description: String
}
