import Foundation
import MigrationContract
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers

@Suite(.scratchDirectory)
struct CommitTests {
    private let record = ImportRecord(
        outcome: .success,
        date: Date(timeIntervalSince1970: 1_772_600_767),
        bundleIdentifier: "com.example.new"
    )

    /// Stages new data for the destination and returns the commit of it.
    private func makeCommit(_ places: Places) throws -> (ContainerCommit, BytePath) {
        let path = try BytePath(resolving: places.destination)
        let live = try ContainerLock(ContainerPlace(path), for: .writing)
        let bookkeeping = try BookkeepingDirectory.make(in: live.directory)
        let token = StagingToken()
        let journal = ImportJournal(phase: .staging, record: nil, staging: token.text)
        try journal.write(to: bookkeeping)
        let staging = try StagingDirectory.make(for: live, token: token)
        let staged = places.root / ".destination.migration-staging/container"
        try (staged / "Documents").makeDirectory()
        try (staged / "Documents/new").write("new")
        try (staged / "locked").makeDirectory()
        try (staged / "locked/new").write("new")
        try (staged / "locked").setMode(0o500)
        let commit = ContainerCommit(live: live, staging: staging, record: record)
        return (commit, staged)
    }

    @Test func `moves everything in, step by step`() throws {
        let places = try Places()
        try places.makeOldDestination()
        let metadata: BytePath = ".com.apple.mobile_container_manager.metadata.plist"
        let content = "<plist version=\"1.0\"><dict/></plist>"
        try (places.destination / metadata).write(content)
        let (commit, staged) = try makeCommit(places)
        let new = try TreeSnapshot(of: staged)
        #expect(try commit.runInSteps().isEmpty)
        let restored = try TreeSnapshot(
            of: places.destination,
            excluding: [".migration", metadata]
        )
        #expect(restored.differences(from: new) == [])
        #expect(try (places.destination / metadata).contents() == Data(content.utf8))
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(!staged.exists)
        #expect(try places.destinationContainer.importRecord() == record)
    }

    /// A name that is in the way of a step makes it fail.
    @Test(arguments: [".migration/replaced/Library", ".migration/replaced/link"] as [BytePath])
    func `gives the old data back when it can't be moved aside`(_ obstacle: BytePath) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        let (commit, _) = try makeCommit(places)
        let bookkeeping = try #require(try BookkeepingDirectory(in: commit.live.directory))
        let steps = try JournaledCommit(commit.journal, of: commit.live, bookkeeping)
        try (places.destination / obstacle).makeDirectory()
        #expect(throws: (any Error).self) {
            try steps.run(from: commit.staging.directory, freeing: nil)
        }
        let restored = try places.contents(of: places.destination)
        let lost = restored.differences(from: old).filter { $0.property == .missing }
        #expect(lost == [])
    }

    @Test func `gives the old data back when the new data can't be moved in`() throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        let (commit, _) = try makeCommit(places)
        let directory = "/proc/self/fdinfo"
        // The contents of a system directory can't be moved into the container.
        var staging = commit.staging
        staging.directory = OpenFile(try FileDescriptor.open(BytePath(directory), .directory))
        let failing = ContainerCommit(live: commit.live, staging: staging, record: record)
        #expect(throws: (any Error).self) { try failing.runInSteps() }
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        let live = OpenFile(try FileDescriptor.open(places.destination, .directory))
        let bookkeeping = try #require(try BookkeepingDirectory(in: live))
        #expect(try ImportJournal.read(from: bookkeeping)?.phase == .staging)
        #expect(!(places.destination / ".migration/replaced").exists)
    }

    @Test func `changes nothing where the container is gone before the exchange`() throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        let (commit, _) = try makeCommit(places)
        let aside = places.root / "aside"
        try places.destination.rename(to: aside)
        #expect(throws: SystemError.self) { try commit.run() }
        #expect(try places.contents(of: aside).differences(from: old) == [])
        #expect(!places.destination.exists)
    }

    @Test func `exchanges the containers where it can`() throws {
        let places = try Places()
        try places.makeOldDestination()
        let (commit, staged) = try makeCommit(places)
        let new = try TreeSnapshot(of: staged)
        let identity = try FileDescriptor.status(atPath: staged).identity
        #expect(try commit.run().isEmpty)
        #expect(try places.contents(of: places.destination).differences(from: new) == [])
        #expect(try FileDescriptor.status(atPath: places.destination).identity == identity)
        #expect(try places.destinationContainer.importRecord() == record)
    }
}
