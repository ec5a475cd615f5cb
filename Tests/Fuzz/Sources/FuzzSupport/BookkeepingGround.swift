public import Foundation
@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationContainers
@testable internal import MigrationCore

/// A container in memory with one file of data and arbitrary bookkeeping.
public struct BookkeepingGround: Sendable {
    private static let data = Data("data".utf8)

    private static let statusRead = "status read"
    private static let journalRead = "journal followed to a record"

    /// The milestones that the seeds must reach.
    public static let milestones = [statusRead, journalRead]

    private let root: URL
    private var bookkeeping: URL { root.appending(path: ".migration") }
    private var journal: URL { bookkeeping.appending(path: "import-journal.json") }
    private var status: URL { bookkeeping.appending(path: "import-status.json") }

    /// Takes the container of this process.
    public init() {
        root = URL(filePath: FuzzTarget.groundPath + "/bookkeeping/container")
    }

    /// Asks for the import record of a container with `status` and `journal`, and checks the answer.
    public func check(status: Data?, journal: Data?, isStaged: Bool) throws {
        let files = FileManager.default
        try? files.removeItem(at: root.deletingLastPathComponent())
        try files.createDirectory(at: bookkeeping, withIntermediateDirectories: true)
        try Self.data.write(to: root.appending(path: "kept"))
        try status?.write(to: self.status)
        try journal?.write(to: self.journal)
        if isStaged {
            let staged = bookkeeping.appending(path: "staged")
            try files.createDirectory(at: staged, withIntermediateDirectories: true)
            try Self.data.write(to: staged.appending(path: "kept"))
        }
        let container = try MigrationDataContainer(at: root)
        do throws(MigrationError) {
            let record = try container.importRecord()
            FuzzTarget.require(!exists(self.journal), "an import is brought to its end")
            let data = FileContents.read(root.appending(path: "kept").path)
            FuzzTarget.require(data == Self.data, "the data is there")
            if let record {
                try checkRoundTrip(of: record)
                Milestones.reach(journal == nil ? Self.statusRead : Self.journalRead)
            }
            if journal == nil, status == nil {
                FuzzTarget.require(record == nil, "nothing is known where nothing is written")
            }
        } catch {
            if error.code == .statusUnreadable, journal == nil {
                let kept = FileContents.read(self.status.path)
                FuzzTarget.require(kept == status, "a status that can't be read is kept")
            } else if error.code == .containerInvalid {
                FuzzTarget.require(exists(self.journal), "a journal that can't be read is kept")
            }
        }
        let again = Result { try container.importRecord() }
        FuzzTarget.require(!(try isChanged(again, container)), "asking twice gives one answer")
    }

    private func isChanged(
        _ answer: Result<ImportRecord?, any Error>,
        _ container: MigrationDataContainer
    ) throws -> Bool {
        guard case .success(let record) = answer else { return false }
        return try container.importRecord() != record
    }

    private func checkRoundTrip(of record: ImportRecord) throws(MigrationError) {
        let again: ImportRecord?
        do {
            let data = try BookkeepingCoding.encode(record)
            again = try BookkeepingCoding.decode(ImportRecord.self, from: data)
        } catch {
            fatalError("a record that was read can't be written and read: \(error)")
        }
        let isSame =
            again?.outcome == record.outcome && again?.fingerprint == record.fingerprint
            && again?.bundleIdentifier == record.bundleIdentifier
        FuzzTarget.require(isSame, "a record is read as it was written: \(record)")
    }

    private func exists(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path)
    }
}
