import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory, .points)
struct ImportFailureTests {
    /// Expects the import to fail and the old container to be whole, with nothing beside it.
    private func expectFailure(
        _ places: Places,
        _ old: TreeSnapshot,
        _ comment: Comment,
        isRecorded: Bool? = nil
    ) async throws {
        let report = try await reportOrFailure(places, old, comment, isRecorded: isRecorded)
        #expect(report == nil, comment)
    }

    /// Returns the report of an import that succeeds; if it fails, expects the old container to be
    /// whole.
    private func reportOrFailure(
        _ places: Places,
        _ old: TreeSnapshot,
        _ comment: Comment,
        isRecorded: Bool? = nil
    ) async throws -> ImportReport? {
        try places.destinationContainer.clearImportRecord()
        var failure: (any Error)?
        do {
            return try await places.importArchive(replacing: true)
        } catch {
            failure = error
        }
        #expect(failure is ArchiveError, comment)
        #expect(try places.contents(of: places.destination).differences(from: old) == [], comment)
        let names = try places.root.names()
        #expect(names == ["app.migration", "destination", "source"], comment)
        let bookkeeping = places.destination / ".migration"
        let kept = bookkeeping.exists ? try bookkeeping.names() : []
        #expect(kept == [] || kept == ["import-attempt.json"], comment)
        if let isRecorded { #expect(!kept.isEmpty == isRecorded, comment) }
        guard !kept.isEmpty else { return nil }
        let record = try places.destinationContainer.importRecord()
        guard case .failure(let recorded)? = record?.outcome else {
            Issue.record("\(comment): no failure is recorded but \(String(describing: record))")
            return nil
        }
        #expect(recorded.domain == "MigrationArchive.ArchiveError", comment)
        #expect(recorded.description == failure.map { "\($0)" }, comment)
        return nil
    }

    @Test func `changes nothing when the archive is cut off anywhere`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let whole = try places.archive.contents()
        for step in 0..<50 {
            let count = step < 15 ? whole.count - 1 - step : whole.count * (step - 15) / 35
            try await Points.attempt("archive cut off, imported") {
                try places.archive.write(whole.prefix(count))
                try await expectFailure(places, old, "cut at \(count) of \(whole.count)")
            }
        }
    }

    /// The content of a compressed frame doesn't depend on some of its bits, and no hash covers
    /// them.
    ///
    /// The import may then succeed, but only with the tree of the sound archive.
    @Test func `restores nothing else when a bit is flipped anywhere`() async throws {
        let places = try await Places.withSmallArchive()
        let expected = try TreeSnapshot(of: places.source)
        let sound = try await places.importArchive()
        let whole = try places.archive.contents()
        let step = Thoroughness.isFull ? 1 : max(1, whole.count / 60)
        var old: TreeSnapshot?
        for index in stride(from: 0, to: whole.count, by: step) {
            var damaged = whole
            damaged[index] ^= 1 << (index % 8)
            let comment = Comment("flipped at \(index) of \(whole.count)")
            try await Points.attempt("byte damaged, imported") {
                let before = try old ?? places.renewOldDestination()
                old = before
                try places.archive.write(damaged)
                guard let report = try await reportOrFailure(places, before, comment) else {
                    return
                }
                old = nil
                let restored = try places.contents(of: places.destination)
                #expect(restored.differences(from: expected) == [], comment)
                #expect(report.header == sound.header, comment)
                #expect(report.fingerprint == sound.fingerprint, comment)
                #expect(report.totals == sound.totals, comment)
                let names = try places.root.names()
                #expect(names == ["app.migration", "destination", "source"], comment)
                #expect(
                    try places.destinationContainer.importRecord()?.outcome == .success,
                    comment
                )
            }
        }
    }

    /// The rule: from the first byte that is read under the lock on, every failure is recorded.
    @Test(arguments: [0, 1, 3, 100, 500, -9, -1], [true, false])
    func `records every cut of the archive, from a file and from a pipe, beside the success`(
        _ place: Int,
        _ isPiped: Bool
    ) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try await places.importArchive(replacing: true)
        let success = try places.destinationContainer.importRecord()
        #expect(success?.outcome == .success)
        let whole = try places.archive.contents()
        try #require(whole.count > 600)
        let cut = whole.prefix(place < 0 ? whole.count + place : place)
        try places.archive.write(cut)
        let file = try FileHandle(forReadingFrom: places.archive.url)
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: cut)
        try pipe.fileHandleForWriting.close()
        let reading = isPiped ? pipe.fileHandleForReading : file
        var options = ImportOptions()
        options.replacesExisting = true
        let error = await #expect(throws: ArchiveError.self) {
            try await MigrationHost().import(
                .descriptor(reading.fileDescriptor),
                into: places.destinationContainer,
                options: options
            )
        }
        #expect(try places.destinationContainer.importRecord() == success)
        let outcome = try places.destinationContainer.lastImportAttempt()?.outcome
        guard case .failure(let persisted)? = outcome else {
            Issue.record("no failure is recorded but \(String(describing: outcome))")
            return
        }
        #expect(persisted.description == error?.description)
        #expect(try places.bookkeepingNames() == ["import-attempt.json", "import-status.json"])
        try reading.close()
        try places.destinationContainer.clearImportRecord()
        #expect(try places.destinationContainer.importRecord() == nil)
        #expect(try places.destinationContainer.lastImportAttempt() == nil)
    }

    /// Files that aren't archives: an empty one, a text, and zstd frames that hold a text or nothing.
    static let noArchives: [[UInt8]] = [
        [], [UInt8]("no archive at all".utf8),
        [0x28, 0xB5, 0x2F, 0xFD, 0x20, 20, 20 << 3 | 1, 0, 0] + "twenty bytes of text".utf8,
        [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0],
        [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0],
    ]

    @Test(arguments: noArchives)
    func `makes no container for the record of a failure`(_ bytes: [UInt8]) async throws {
        let places = try await Places.withSmallArchive()
        try places.archive.write(Data(bytes))
        await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        #expect(!places.destination.exists)
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test func `records nothing of an archive that can't be opened`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        try places.archive.removeFile()
        await #expect(throws: ArchiveError.self) { try await places.importArchive(replacing: true) }
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    /// The data frames of an archive and what follows them, as its seek table says.
    private func parts(of archive: Data) -> (frames: [Data], end: Data) {
        let bytes = [UInt8](archive)
        func number(at place: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        let footer = bytes.count - 9
        let count = number(at: footer)
        var frames: [Data] = []
        var start = 0
        // The last two in the list are the index of entries and the hashes.
        for index in 0..<count - 2 {
            let size = number(at: footer - (count - index) * 8)
            frames.append(Data(bytes[start..<start + size]))
            start += size
        }
        return (frames, Data(bytes[start...]))
    }

    @Test func `changes nothing when frames are swapped, dropped or repeated`() async throws {
        let places = try await Places.withLongArchive()
        let old = try places.makeOldDestination()
        let (frames, end) = parts(of: try places.archive.contents())
        // The first one holds the header.
        try #require(frames.count == 4)
        let orders = [
            [1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [0, 3, 2, 1], [1, 2, 3], [0, 2, 3],
            [0, 1, 3], [0, 1, 2], [0, 1, 2, 2, 3],
        ]
        for order in orders {
            let mixed = order.reduce(into: Data()) { $0 += frames[$1] }
            try places.archive.write(mixed + end)
            try await expectFailure(places, old, "frames \(order)")
        }
    }

    @Test(arguments: 1...4)
    func `changes nothing when the archive is cut off in a later frame`(
        _ fifths: Int
    ) async throws {
        let places = try await Places.withLongArchive()
        let old = try places.makeOldDestination()
        let whole = try places.archive.contents()
        try places.archive.write(whole.prefix(whole.count * fifths / 5))
        try await expectFailure(places, old, "cut after \(fifths) of 5 parts")
    }

    @Test func `records a failure that comes after the beginning`() async throws {
        let places = try await Places.withLongArchive()
        let old = try places.makeOldDestination()
        var damaged = try places.archive.contents()
        damaged[damaged.count / 2] ^= 0x10
        try places.archive.write(damaged)
        try await expectFailure(places, old, "damaged in the middle", isRecorded: true)
    }

    @Test func `leaves no container where there was none, however late it fails`() async throws {
        let places = try await Places.withLongArchive()
        var damaged = try places.archive.contents()
        damaged[damaged.count / 2] ^= 0x10
        try places.archive.write(damaged)
        await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        #expect(try places.root.names() == ["app.migration", "source"])
    }

    @Test func `records the failure in a fresh container that was there`() async throws {
        let places = try await Places.withLongArchive()
        var damaged = try places.archive.contents()
        damaged[damaged.count / 2] ^= 0x10
        try places.archive.write(damaged)
        try places.destination.makeDirectory()
        await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        let container = try places.destinationContainer
        guard case .failure? = try container.importRecord()?.outcome else {
            Issue.record("no failure is recorded")
            return
        }
        #expect(try container.importRecord() == container.lastImportAttempt())
        #expect(try places.bookkeepingNames() == ["import-attempt.json"])
    }

    @Test func `a success ends what is known of a failed attempt`() async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        let whole = try places.archive.contents()
        try places.archive.write(whole.dropLast(20))
        await #expect(throws: ArchiveError.self) { try await places.importArchive(replacing: true) }
        #expect(try places.destinationContainer.lastImportAttempt() != nil)
        try places.archive.write(whole)
        try await places.importArchive(replacing: true)
        #expect(try places.destinationContainer.lastImportAttempt() == nil)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    /// The signal that ends the program at the other end of the pipe ends this one too.
    @Test func `records an archive that ends with a cancellation as interrupted`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: places.archive.contents().prefix(300))
        var options = ImportOptions()
        options.replacesExisting = true
        let (container, sending) = (try places.destinationContainer, options)
        let task = Task {
            try await MigrationHost().import(
                .descriptor(pipe.fileHandleForReading.fileDescriptor),
                into: container,
                options: sending
            )
        }
        try pipe.fileHandleForWriting.close()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        if let attempt = try container.lastImportAttempt() {
            #expect(attempt.outcome == .interrupted)
        }
    }

    @Test func `is done again after a failure`() async throws {
        let places = try await Places.withLongArchive()
        let whole = try places.archive.contents()
        try places.archive.write(whole.prefix(whole.count / 2) + Data(whole.reversed()))
        await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        try places.archive.write(whole)
        try await places.importArchive()
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    @Test func `records an import that is cancelled as interrupted`() async throws {
        let places = try await Places.withVariedArchive()
        let old = try places.makeOldDestination()
        let mutator = Mutator { withUnsafeCurrentTask { $0?.cancel() } }
        let task = Task { try await places.importArchive(replacing: true, progress: mutator) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(mutator.hasRun)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
        #expect(try places.bookkeepingNames() == ["import-attempt.json"])
        #expect(try places.destinationContainer.importRecord()?.outcome == .interrupted)
    }
}

@Suite(.scratchDirectory)
struct HostileImportTests {
    /// A tar file of another program that must not get through.
    enum Attack: String, CaseIterable {
        case absolutePath, parentPath, throughLink, linkOut, linkOutInTwoSteps, hardLinkOut
        case hardLinkToLink, device, overDirectory, text, empty
    }

    private func blocks(_ attack: Attack) -> [RawTar.Entry] {
        switch attack {
        case .absolutePath: [.file("/tmp/migration-escape", "x")]
        case .parentPath: [.directory("a"), .file("a/../../escape", "x")]
        case .throughLink: [.link("a", "/tmp"), .file("a/migration-escape", "x")]
        case .linkOut: [.file("kept", "x"), .link("a", "../escape")]
        case .linkOutInTwoSteps:
            [.directory("d"), .directory("d/e"), .link("a", "d/e"), .link("b", "a/../../..")]
        case .hardLinkOut: [.hardLink("a", "/etc/passwd")]
        case .hardLinkToLink: [.link("a", "/etc/passwd"), .hardLink("b", "a")]
        case .device: [RawTar.Entry(name: "null", type: "3", link: "", content: "")]
        case .overDirectory: [.directory("a"), .file("a/b", "x"), .file("a", "y")]
        case .text, .empty: []
        }
    }

    @Test(arguments: Attack.allCases)
    func `changes nothing and writes nothing elsewhere`(_ attack: Attack) async throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        let bytes =
            switch attack {
            case .text: Data("This is no archive, but a text that is long enough.\n".utf8)
            case .empty: Data()
            default: RawTar.archive(of: blocks(attack))
            }
        try places.archive.write(bytes)
        await #expect(throws: ArchiveError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
        let escape: BytePath = "/tmp/migration-escape"
        #expect(!escape.exists)
    }

    @Test(arguments: [true, false])
    func `refuses a stream that claims more than there is room for`(_ isImport: Bool) async throws {
        let places = try Places()
        let size = RawTar.Entry(
            name: "size",
            type: "x",
            link: "",
            content: "25 size=1125899906842624\n"
        )
        let pipe = Pipe()
        let stream = RawTar.archive(of: [size, .file("huge", "")])
        try pipe.fileHandleForWriting.write(contentsOf: stream)
        try pipe.fileHandleForWriting.close()
        let source = ArchiveSource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        let error = await #expect(throws: ArchiveError.self) {
            guard isImport else { return try await source.extract(to: places.destination.url) }
            return try await MigrationHost()
                .import(source, into: places.destinationContainer)
        }
        #expect(error?.code == .outOfSpace)
        #expect(error?.entry == EntryPath("huge"))
        try pipe.fileHandleForReading.close()
    }

    @Test func `takes another program's archive, with no proof`() async throws {
        let places = try Places()
        let blocks: [RawTar.Entry] = [
            .directory(".migration"), .file(".migration/import-status.json", "forged"),
            .file(".com.apple.mobile_container_manager.metadata.plist", "forged"),
            .directory("Documents"), .file("Documents/a", "content"),
        ]
        try places.archive.write(RawTar.archive(of: blocks))
        let report = try await places.importArchive()
        #expect(report.header == nil)
        #expect(report.fingerprint == nil)
        #expect(report.totals.files == 1)
        #expect(
            report.omissions.items.map(\.path) == [
                ".migration", ".migration/import-status.json",
                ".com.apple.mobile_container_manager.metadata.plist",
            ]
        )
        #expect(report.omissions.items.allSatisfy { $0.reason == .leftOutByDefault })
        #expect(try places.destination.names() == [".migration", "Documents"])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(try (places.destination / "Documents/a").contents() == Data("content".utf8))
        let record = try #require(try places.destinationContainer.importRecord())
        #expect(record.outcome == .success)
        #expect(record.bundleIdentifier == nil)
    }
}
