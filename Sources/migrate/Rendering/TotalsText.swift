import MigrationArchive

/// How much an archive holds, in one line.
struct TotalsText: CustomStringConvertible, Sendable {
    let totals: ArchiveTotals

    init(_ totals: ArchiveTotals) {
        self.totals = totals
    }

    var description: String {
        let links = totals.symbolicLinks + totals.hardLinks
        let parts = [
            GroupedCount(totals.files).of("file", "files"),
            GroupedCount(totals.directories).of("directory", "directories"),
            GroupedCount(links).of("link", "links"),
        ]
        return parts.joined(separator: ", ") + "; \(ByteCount(totals.contentBytes))"
    }
}
