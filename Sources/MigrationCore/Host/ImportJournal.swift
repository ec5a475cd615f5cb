internal import Foundation
internal import MigrationSystem

/// What an import under way has done, so that whoever comes after it knows.
struct ImportJournal: Codable, Equatable {
    enum Phase: String, Codable {
        /// Data is being made ready beside the container, which is untouched.
        case staging
        /// The old data is being moved aside; whoever comes after goes on with it.
        case clearing
        /// The new data is being moved in; whoever comes after goes on with it.
        case filling
        /// A commit failed and the old data is being moved back; whoever comes after goes on with it.
        case restoring
    }

    static let currentVersion = 1

    var version = Self.currentVersion
    var phase: Phase
    /// The record that a success leaves.
    var record: ImportRecord?
    /// The token that the import's staging directory holds.
    var staging: String?

    private struct Versioned: Decodable {
        let version: Int
    }

    static func read(from bookkeeping: BookkeepingDirectory) throws -> ImportJournal? {
        guard let data = try bookkeeping.read(BookkeepingDirectory.journalName) else { return nil }
        let version = try BookkeepingCoding.decode(Versioned.self, from: data).version
        guard version == currentVersion else { throw ImportRecord.NewerVersion(version: version) }
        return try BookkeepingCoding.decode(ImportJournal.self, from: data)
    }

    /// Reads the journal of the container at `path`, and names it where that fails.
    static func read(
        from bookkeeping: BookkeepingDirectory,
        of path: PathName
    ) throws(MigrationError) -> ImportJournal? {
        do {
            return try read(from: bookkeeping)
        } catch {
            // The words of a decoder say nothing to a person.
            let isUnderstood = !(error is DecodingError)
            let message =
                isUnderstood
                ? "the container's bookkeeping can't be read"
                : "the journal of an import can't be understood; it is left as it is until 'migrate "
                    + "recover --discard'"
            let file = BookkeepingDirectory.path(of: BookkeepingDirectory.journalName, in: path)
            let cause = isUnderstood ? error : nil
            throw MigrationError(.containerInvalid, message, path: file.path, cause: cause)
        }
    }

    func write(to bookkeeping: BookkeepingDirectory) throws {
        let data = try BookkeepingCoding.encode(self)
        try bookkeeping.write(data, as: BookkeepingDirectory.journalName)
    }
}
