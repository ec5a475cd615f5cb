import MigrationArchive
import MigrationCore

/// What `migrate inspect` answers.
struct InspectionAnswer: Answer {
    let archive: String
    let archiveBase64: String?
    let archiveBytes: UInt64?
    let fingerprint: String?
    let frameCount: Int?
    let header: ArchiveHeader?
    let streamBytes: UInt64?
    let totals: ArchiveTotals?

    var text: String {
        let proof = fingerprint ?? "none: nothing proves that it is complete"
        let rows = [("archive", archive)] + headerRows + totalsRows + sizeRows
        return Table(rows: rows + [("fingerprint", proof)]).text
    }

    private var headerRows: [(String, String)] {
        guard let header else { return [("creator", "another program")] }
        return [
            ("app", PrintableText.escaping(header.bundleIdentifier)),
            ("platform", PrintableText.escaping(header.platform)),
            ("version", PrintableText.escaping(header.resourcesVersion)),
            ("creator", PrintableText.escaping(header.creator)),
        ] + (header.importers ?? []).map { ("for", PrintableText.escaping($0)) }
    }

    private var totalsRows: [(String, String)] {
        guard let totals else { return [] }
        let links = totals.symbolicLinks + totals.hardLinks
        let kinds =
            "\(GroupedCount(totals.symbolicLinks)) symbolic, \(GroupedCount(totals.hardLinks)) hard"
        return [
            ("files", "\(GroupedCount(totals.files))"),
            ("directories", "\(GroupedCount(totals.directories))"),
            ("links", links == 0 ? "0" : "\(GroupedCount(links)) (\(kinds))"),
            ("content", "\(ByteCount(totals.contentBytes))"),
        ]
    }

    private var sizeRows: [(String, String)] {
        var rows: [(String, String)] = []
        if let archiveBytes {
            let share = totals.flatMap { percentage(archiveBytes, of: $0.contentBytes) }
            rows.append(("size", "\(ByteCount(archiveBytes))" + (share.map { " (\($0))" } ?? "")))
        }
        if let frameCount { rows.append(("frames", "\(GroupedCount(frameCount))")) }
        return rows
    }
}

extension InspectionAnswer {
    init(_ archive: ArchiveName, _ inspection: ArchiveInspection) {
        self.init(
            archive: archive.sourceText,
            archiveBase64: JSONText.base64(of: archive.bytes),
            archiveBytes: inspection.archiveBytes,
            fingerprint: inspection.fingerprint?.description,
            frameCount: inspection.frameCount,
            header: inspection.header,
            streamBytes: inspection.streamBytes,
            totals: inspection.totals
        )
    }
}
