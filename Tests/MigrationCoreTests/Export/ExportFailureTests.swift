import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ExportFailureTests {
    /// What happens to the source while its first large file is half read.
    enum Change: CaseIterable {
        case grows, shrinks, isEmptied, isWrittenOver, isReplaced
        case laterVanishes, laterIsReplaced, laterDirectoryVanishes, directoryGains, rootGains
    }

    private static let large: BytePath = "Documents/a-large"

    private func makeSource() throws -> Places {
        let places = try Places()
        for path: BytePath in ["Documents", "Documents/later"] {
            try (places.source / path).makeDirectory()
        }
        try (places.source / Self.large).write(Data(repeating: 7, count: 10 << 20))
        try (places.source / "Documents/b").write("later")
        try (places.source / "Documents/later/file").write("later")
        return places
    }

    private func apply(_ change: Change, to source: BytePath) throws {
        let large = source / Self.large
        switch change {
        case .grows: try large.truncate(to: 11 << 20)
        case .shrinks: try large.truncate(to: 9 << 20)
        case .isEmptied: try large.truncate(to: 0)
        case .isWrittenOver: try large.setModificationTime(1, 1)
        case .isReplaced:
            try (source / "Documents/other").write("other")
            try (source / "Documents/other").rename(to: large)
        case .laterVanishes: try (source / "Documents/b").removeFile()
        case .laterIsReplaced:
            try (source / "Documents/b").removeFile()
            try (source / "Documents/b").makeSymbolicLink(to: "a-large")
        case .laterDirectoryVanishes:
            try (source / "Documents/later").rename(to: source / "moved")
        case .directoryGains: try (source / "Documents/new").write("new")
        case .rootGains: try (source / "new").write("new")
        }
    }

    @Test(arguments: Change.allCases, [false, true])
    func `fails where the source changes, and leaves what was there`(
        _ change: Change,
        _ hasOlder: Bool
    ) async throws {
        let places = try makeSource()
        if hasOlder { try places.archive.write("an older archive") }
        let mutator = Mutator { try apply(change, to: places.source) }
        let error = await #expect(throws: ArchiveError.self) {
            try await places.exportSource(replacing: true, progress: mutator)
        }
        #expect(mutator.hasRun)
        #expect(error?.code == .sourceChanged)
        let names = try places.root.names()
        #expect(names == (hasOlder ? ["app.migration", "source"] : ["source"]))
        if hasOlder { #expect(try places.archive.contents() == Data("an older archive".utf8)) }
    }

    @Test func `names the file that changed`() async throws {
        let places = try makeSource()
        let mutator = Mutator { try (places.source / Self.large).truncate(to: 0) }
        let error = await #expect(throws: ArchiveError.self) {
            try await places.exportSource(progress: mutator)
        }
        #expect(error?.entry == EntryPath("Documents/a-large"))
    }

    @Test func `refuses a name that is taken`() async throws {
        let places = try makeSource()
        try places.archive.write("mine")
        let error = await #expect(throws: MigrationError.self) { try await places.exportSource() }
        #expect(error?.code == .outputExists)
        #expect(try places.archive.contents() == Data("mine".utf8))
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test func `refuses a name that is taken while it writes`() async throws {
        let places = try makeSource()
        let mutator = Mutator { try places.archive.write("mine") }
        let error = await #expect(throws: MigrationError.self) {
            try await places.exportSource(progress: mutator)
        }
        #expect(error?.code == .outputExists)
        #expect(try places.archive.contents() == Data("mine".utf8))
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test func `replaces an older archive where that was asked for`() async throws {
        let places = try makeSource()
        try places.archive.write("mine")
        let report = try await places.exportSource(replacing: true)
        #expect(UInt64(try places.archive.contents().count) == report.archiveBytes)
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test(arguments: ["Documents/archive", "archive"] as [BytePath])
    func `fails where the archive would hold itself`(_ path: BytePath) async throws {
        let places = try makeSource()
        let before = try TreeSnapshot(of: places.source).nodes.keys.sorted()
        let error = await #expect(throws: MigrationError.self) {
            try await places.exportSource(to: places.source / path)
        }
        #expect(error?.code == .invalidOption)
        #expect(try TreeSnapshot(of: places.source).nodes.keys.sorted() == before)
    }

    @Test func `leaves nothing when its task is cancelled`() async throws {
        let places = try makeSource()
        let mutator = Mutator { withUnsafeCurrentTask { $0?.cancel() } }
        let task = Task { try await places.exportSource(progress: mutator) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(mutator.hasRun)
        #expect(try places.root.names() == ["source"])
    }

    @Test func `fails where there is no directory for the archive`() async throws {
        let places = try makeSource()
        let error = await #expect(throws: MigrationError.self) {
            try await places.exportSource(to: places.root / "missing/archive")
        }
        #expect(error?.code == .outputFailed)
    }

    @Test func `fails where there is no container`() async throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.destination)
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().export(
                container,
                to: .file(path: places.archive, replacesExisting: false)
            )
        }
        #expect(error?.code == .containerInvalid)
        #expect(try places.root.names() == ["source"])
    }

    @Test(.enabled(if: geteuid() != 0, "root reads everything"))
    func `fails where something can't be read`() async throws {
        let places = try makeSource()
        try (places.source / "Documents/b").setMode(0)
        let error = await #expect(throws: ArchiveError.self) { try await places.exportSource() }
        #expect(error?.code == .sourceUnreadable)
        #expect(error?.entry == EntryPath("Documents/b"))
        #expect(try places.root.names() == ["source"])
    }

    @Test(.enabled(if: geteuid() != 0, "root reads everything"))
    func `passes over what can't be read where it is left out`() async throws {
        let places = try makeSource()
        try (places.source / "Documents/later").setMode(0)
        try (places.source / "tmp").makeDirectory()
        try (places.source / "tmp").setMode(0)
        var options = ExportOptions()
        options.exclusions = [try PathPattern("later/")]
        let report = try await places.exportSource(options: options)
        #expect(report.omissions.items.map(\.path) == ["Documents/later", "tmp"])
    }
}

@Suite(.scratchDirectory)
struct PartialArchiveTests {
    @Test func `takes over what a dead process left`() async throws {
        let places = try Places()
        try (places.root / "app.migration.partial").write("left")
        let report = try await places.exportSource()
        #expect(UInt64(try places.archive.contents().count) == report.archiveBytes)
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test func `is refused while another export writes the same archive`() async throws {
        let places = try Places()
        let partial = places.root / "app.migration.partial"
        try partial.write("being written")
        let holder = try LockHolder(partial, LOCK_EX)
        let error = await #expect(throws: MigrationError.self) { try await places.exportSource() }
        #expect(error?.code == .archiveBusy)
        #expect(error?.message == "another process is writing this archive")
        #expect(try partial.contents() == Data("being written".utf8))
        #expect(try places.root.names() == ["app.migration.partial", "source"])
        holder.release()
        try await places.exportSource()
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test(arguments: [false, true])
    func `refuses to archive its own output`(_ isDescriptor: Bool) async throws {
        let places = try Places()
        try (places.source / "a").write("a")
        let archive = places.source / "archive"
        let before = try TreeSnapshot(of: places.source)
        let error = await #expect(throws: MigrationError.self) {
            guard isDescriptor else { return try await _ = places.exportSource(to: archive) }
            try archive.write("")
            let descriptor = archive.withPointer { open($0, O_WRONLY | O_CLOEXEC) }
            defer { close(descriptor) }
            _ = try await MigrationHost().export(
                MigrationDataContainer(atPath: places.source),
                to: .descriptor(descriptor)
            )
        }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains("the archive would contain itself") == true)
        if !isDescriptor {
            #expect(try TreeSnapshot(of: places.source).differences(from: before) == [])
        }
    }
}
