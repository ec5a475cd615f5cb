import MigrationArchive
import MigrationCore

/// What `migrate export` answers.
struct ExportAnswer: Answer {
    var appExtension: ExtensionReport?
    let archive: String
    let archiveBase64: String?
    let archiveBytes: UInt64
    let compressedStreamBytes: UInt64
    let externalLinkCount: Int
    let externalLinks: [String]
    let fingerprint: String
    let header: ArchiveHeader
    var leftBehind: LeftBehind?
    let omissions: OmissionList
    let streamBytes: UInt64
    let totals: ArchiveTotals

    var text: String {
        let share = percentage(archiveBytes, of: totals.contentBytes).map { " (\($0))" } ?? ""
        return "\(archive): \(TotalsText(totals)) in \(ByteCount(archiveBytes))\(share)\n"
            + "fingerprint \(fingerprint)\n"
            + OmissionLines(title: "left out", omissions: omissions).text
            + (leftBehind.map { LeftBehindLines($0).text } ?? "")
    }
}

extension ExportAnswer {
    init(_ archive: ArchiveName, _ report: ExportReport) {
        let isStream = archive.isStandardStream
        self.init(
            appExtension: report.appExtension,
            archive: isStream ? "standard output" : PrintableText.escaping(archive.bytes),
            archiveBase64: JSONText.base64(of: archive.bytes),
            archiveBytes: report.archiveBytes,
            compressedStreamBytes: report.compressedStreamBytes,
            externalLinkCount: report.externalLinkCount,
            externalLinks: report.externalLinks,
            fingerprint: report.fingerprint.description,
            header: report.header,
            leftBehind: report.leftBehind,
            omissions: report.omissions,
            streamBytes: report.streamBytes,
            totals: report.totals
        )
    }
}
