import Foundation
import MigrationCore

/// Moves a small container from one directory to another, step by step.
@main
struct RoundTrip {
    static func main() async {
        do {
            let scratch = FileManager.default.temporaryDirectory
                .appending(path: "round-trip-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            try await moveContainer(in: scratch)
        } catch {
            FileHandle.standardError.write(Data("round-trip: error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func moveContainer(in scratch: URL) async throws {
        let archive = scratch.appending(path: "notes.tar.zst")

        // A container is any directory. The identifier names its app. Without it, it is read from
        // the files that Apple's systems leave in a container, or else taken from the directory's
        // name.
        let old = try MigrationDataContainer(
            at: scratch.appending(path: "old", directoryHint: .isDirectory),
            bundleIdentifier: "com.example.notes"
        )
        try NotesApp.writeData(to: old)

        // Export: the file appears under its name only when it is whole.
        let exported = try await MigrationHost().export(old, to: .file(archive))
        print("exported  \(exported.totals.files) files, fingerprint \(exported.fingerprint)")
        for omission in exported.omissions.items {
            print("left out  \(omission.path): \(omission.bytes) bytes, \(omission.reason)")
        }

        // Inspect: reads the two ends of the file, however large it is.
        let source = ArchiveSource.file(archive)
        let inspection = try await source.inspect()
        try check(inspection.fingerprint == exported.fingerprint, "the archive is another one")
        print("inspected \(inspection.header?.bundleIdentifier ?? "an archive of another program")")

        // Import: the new container gets everything or nothing. It need not exist.
        let new = try MigrationDataContainer(
            at: scratch.appending(path: "new", directoryHint: .isDirectory),
            bundleIdentifier: "com.example.notes"
        )
        let progress = MigrationProgress()
        async let importing = MigrationHost().import(source, into: new, progress: progress)
        var last: Double?
        for await update in progress.updates { last = update.fractionCompleted }
        let imported = try await importing
        try check(last == 1, "the import did not show its progress")
        try check(imported.totals == exported.totals, "something was not restored")
        print("imported  \(imported.totals.entries) entries")

        // Compare: content, kinds, permissions, times, links and attributes.
        let differences = try await source.compare(with: new) { difference in
            print("differs   \(difference.path): \(difference.kind)")
        }
        try check(differences == 0, "the containers differ")
        try check(try NotesApp.readNote(in: new) == NotesApp.note, "the note is another one")
        print("compared  no differences")

        // Status: the app reads it at its first launch, and clears it once the person has seen it.
        MigrationStatus.containerDirectory = new.containerRootDirectory
        guard case .success = MigrationStatus.importStatus else {
            throw RoundTripError(description: "the app is not told that its data arrived")
        }
        MigrationStatus.clearImportStatus()
        try check(MigrationStatus.importStatus == nil, "the status was not cleared")
        print("status    success, then cleared")
    }

    private static func check(_ condition: Bool, _ message: String) throws {
        guard condition else { throw RoundTripError(description: message) }
    }
}

/// Something that differs after a round trip.
struct RoundTripError: Error, CustomStringConvertible {
    let description: String
}
