import MigrationArchive
import MigrationCore

/// What `migrate import` and `migrate extract` answer.
struct ImportAnswer: Answer {
    var appExtension: ExtensionReport?
    let archive: String
    let archiveBase64: String?
    let destination: String
    let destinationBase64: String?
    let fingerprint: String?
    let hasTrailer: Bool
    let header: ArchiveHeader?
    let lacksEndMark: Bool
    let leftovers: [String]
    let omissions: OmissionList
    let replacedData: Bool
    let totals: ArchiveTotals

    /// What was done to the archive, for the text.
    let verb: String

    private enum CodingKeys: String, CodingKey {
        case appExtension, archive, archiveBase64, destination, destinationBase64, fingerprint
        case hasTrailer, header, lacksEndMark, leftovers, omissions, replacedData, totals
    }

    var text: String {
        let proof = fingerprint.map { "fingerprint \($0)\n" } ?? ""
        let replacement = replacedData ? "replaced the data that was there\n" : ""
        return "\(archive): \(verb) into \(destination): \(TotalsText(totals))\n" + proof
            + replacement + OmissionLines(title: "not restored", omissions: omissions).text
    }
}

extension ImportAnswer {
    init(_ archive: ArchiveName, verb: String, into path: [UInt8], _ report: ImportReport) {
        self.init(
            appExtension: report.appExtension,
            archive: archive.sourceText,
            archiveBase64: JSONText.base64(of: archive.bytes),
            destination: PrintableText.escaping(path),
            destinationBase64: JSONText.base64(of: path),
            fingerprint: report.fingerprint?.description,
            hasTrailer: report.hasTrailer,
            header: report.header,
            lacksEndMark: report.lacksEndMark,
            leftovers: report.leftovers.map(\.description),
            omissions: report.omissions,
            replacedData: report.replacedData,
            totals: report.totals,
            verb: verb
        )
    }
}
