import Foundation
import Glibc
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers
@testable import MigrationCore

/// Files that another user puts where the bookkeeping belongs, in a container that root works on
/// too.
@Suite(.scratchDirectory)
struct PlantedBookkeepingTests {
    enum Kind: CaseIterable {
        case hardLink, symbolicLink, fifo, directory, emptyFile, othersFile
    }

    static let names: [BytePath] = [
        "import-status.json", "import-attempt.json", "import-attempt.json.new",
        "import-journal.json",
        "import-journal.json.new", "staged", "replaced",
    ]

    private static let secret = "what must stay as it is"

    /// Makes a container whose bookkeeping has `kind` under `name`, beside a file that is not its own.
    private func plant(_ kind: Kind, _ name: BytePath, _ places: Places) throws -> BytePath {
        let victim = places.root / "victim"
        try victim.write(Self.secret)
        try victim.setMode(0o640)
        let bookkeeping = places.destination / ".migration"
        if !bookkeeping.exists { try bookkeeping.makeDirectory() }
        let place = bookkeeping / name
        if place.exists { try place.removeFile() }
        switch kind {
        case .hardLink: try place.makeHardLink(to: victim)
        case .symbolicLink: try place.makeSymbolicLink(to: BytePath([UInt8]("../../victim".utf8)))
        case .fifo: try place.makeFIFO()
        case .directory:
            try place.makeDirectory()
            try (place / "inner").makeHardLink(to: victim)
        case .emptyFile: try place.write("")
        case .othersFile:
            try place.write("{}")
            _ = place.withPointer { chown($0, 4321, 4321) }
        }
        return victim
    }

    private func expectUntouched(_ victim: BytePath, _ comment: Comment) throws {
        #expect(try victim.contents() == Data(Self.secret.utf8), comment)
        var status = stat()
        #expect(victim.withPointer { lstat($0, &status) } == 0, comment)
        #expect(status.st_mode & 0o7777 == 0o640, comment)
        #expect(status.st_uid == geteuid(), comment)
    }

    @Test(arguments: Kind.allCases, names)
    func `changes nothing but the bookkeeping itself, and never hangs`(
        _ kind: Kind,
        _ name: BytePath
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let victim = try plant(kind, name, places)
        let container = try places.destinationContainer
        _ = try? container.importRecord()
        try expectUntouched(victim, "status")
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        _ = try? MigrationHost().recover(container)
        try expectUntouched(victim, "recover")
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        _ = try MigrationHost().recover(container, discards: true)
        try expectUntouched(victim, "recover --discard")
        try container.clearImportRecord()
        try expectUntouched(victim, "clear")
        try await places.importArchive(replacing: true)
        try expectUntouched(victim, "import")
        #expect(try container.importRecord()?.outcome == .success)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
    }

    /// An interrupted import makes the next command write.
    @Test(
        arguments: Kind.allCases,
        ["import-attempt.json", "import-attempt.json.new", "import-journal.json.new"] as [BytePath]
    )
    func `replaces what is planted rather than writing in it`(
        _ kind: Kind,
        _ name: BytePath
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let victim = try plant(kind, name, places)
        let journal = ImportJournal(phase: .staging, record: nil, staging: nil)
        try (places.destination / ".migration/import-journal.json")
            .write(BookkeepingCoding.encode(journal))
        _ = try? places.destinationContainer.importRecord()
        try expectUntouched(victim, "status")
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        let cleared = try MigrationHost().recover(places.destinationContainer, discards: true)
        #expect(cleared.kept == [] || kind == .directory)
        try expectUntouched(victim, "recover")
        try await places.importArchive(replacing: true)
        try expectUntouched(victim, "import")
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make files of another user"))
    func `does not rely on another user's bookkeeping as root`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let bookkeeping = places.destination / ".migration"
        try bookkeeping.makeDirectory()
        _ = bookkeeping.withPointer { chown($0, 4321, 4321) }
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        #expect(error?.description.contains("Operation not permitted") == true)
        await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        let report = try MigrationHost().recover(places.destinationContainer, discards: true)
        #expect(report.kept == [(places.destination / ".migration-kept-1").url.path])
        try FileManager.default.removeItem(at: (places.destination / ".migration-kept-1").url)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
    }
}
