import AndroidMigration
import MigrationArchive

/// What `migrate android convert` answers.
struct ConversionAnswer: Answer {
    let schema = "migrate/android-convert/1"
    let archive: String
    let bytes: UInt64
    let fingerprint: String?
    let header: ArchiveHeader?
    let lost: ConversionReport.List
    let omitted: ConversionReport.List
    let package: String
    let salvaged: [String]
    let totals: ArchiveTotals

    init(_ output: ArchiveName, _ report: ConversionReport) {
        archive = output.isStandardStream ? "standard output" : PrintableText.escaping(output.bytes)
        bytes = report.bytes
        fingerprint = report.fingerprint?.description
        header = report.header
        lost = report.lost
        omitted = report.omitted
        package = PrintableText.escaping(report.package)
        salvaged = report.salvaged
        totals = report.totals
    }

    var text: String {
        let version =
            header.map { ", version '\(PrintableText.escaping($0.resourcesVersion))'" } ?? ""
        return "\(archive): \(package)\(version): \(TotalsText(totals)) in \(ByteCount(bytes))\n"
            + (fingerprint.map { "fingerprint \($0)\n" } ?? "")
            + Self.lines("left out", omitted)
            + salvagedLines + Self.lines("lost", lost)
    }

    private var salvagedLines: String {
        let shown = salvaged.prefix(OmissionLines.limit)
        var text = shown.reduce("") { "\($0)salvaged: \($1)\n" }
        let count = Int(clamping: totals.files)
        if lost.count > 0, count > shown.count {
            let rest = UnshownItems(
                count: count,
                shown: shown.count,
                listed: salvaged.count,
                name: "more salvaged"
            )
            text += "\(rest)\n"
        }
        return text
    }

    private static func lines(_ title: String, _ list: ConversionReport.List) -> String {
        let shown = list.items.prefix(OmissionLines.limit)
        var text = shown.reduce("") { text, item in
            text + "\(title): \(item.path) (\(PrintableText.escapingRest(of: item.reason)))\n"
        }
        if list.count > shown.count {
            let rest = UnshownItems(
                count: list.count,
                shown: shown.count,
                listed: list.items.count,
                name: "more"
            )
            text += "\(rest)\n"
        }
        return text
    }
}

/// What `migrate android manifest` answers.
struct ManifestAnswer: Answer {
    private struct App: Encodable {
        let bundleId: String
        let teamId: String
        let contentVersion: String
    }

    private let schema = "migrate/android-manifest/1"
    private let apps: [App]
    private let package: String
    private let platform: String
    private let signatures: [String]

    init(_ manifest: CrossPlatformManifest) {
        apps = manifest.parameters.map {
            App(
                bundleId: $0.bundleIdentifier,
                teamId: $0.teamIdentifier,
                contentVersion: $0.contentVersion
            )
        }
        package = manifest.package
        platform = manifest.platform
        signatures = manifest.signatures
    }

    var text: String {
        let rows =
            [
                ("package", PrintableText.escaping(package)),
                ("platform", PrintableText.escaping(platform)),
            ]
            + apps.map { app in
                let name = PrintableText.escaping("\(app.teamId).\(app.bundleId)")
                return ("app", "\(name), version '\(PrintableText.escaping(app.contentVersion))'")
            }
        return Table(rows: rows + signatures.map { ("signature", PrintableText.escaping($0)) }).text
    }
}
