package import IPhoneBackups
internal import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// The apps in a backup of an iPhone, and the containers that it holds.
package struct IOSAppsAnswer: Answer, JSONObject {
    package var schema: String { "migrate/ios-apps/1" }
    private let contents: BackupContents
    private let warnings: [String]
    private let wording: Wording

    package init(_ contents: BackupContents, warnings: [String], _ wording: Wording) {
        (self.contents, self.warnings, self.wording) = (contents, warnings, wording)
    }

    package var members: JSONMembers {
        [
            "apps": members(of: .app), "groups": members(of: .group),
            "plugins": members(of: .plugin), "warnings": warnings,
        ]
    }

    private func members(of kind: Domain.Kind) -> [JSONMembers] {
        contents.containers(kind).map { container in
            [
                "bytes": container.bytes, "files": container.files, "hasData": container.hasData,
                "id": container.identifier, "name": container.name, "version": container.version,
            ]
        }
    }

    package var text: String {
        let sections =
            section("apps", .app) + section("groups", .group) + section("plugins", .plugin)
        if contents.containers(.group).isEmpty { return sections }
        let way = wording.step(.chooseGroup)
        return sections + "A backup doesn't say whose a group is: choose it with \(way).\n"
    }

    private func section(_ title: String, _ kind: Domain.Kind) -> String {
        let lines = contents.containers(kind).map { container in
            let size =
                GroupedCount(container.files).of("file", "files")
                + ", \(ByteCount(container.bytes))"
            let facts = [
                container.name.map { PrintableText.escaping($0) },
                container.version.map { PrintableText.escaping($0) },
                container.hasData ? size : "no data",
            ]
            return "  \(PrintableText.escaping(container.identifier)): "
                + facts.compactMap(\.self).joined(separator: ", ") + "\n"
        }
        return lines.isEmpty ? "" : "\(title)\n" + lines.joined()
    }
}

/// The result of a conversion of an iPhone backup.
package struct IOSConvertAnswer: Answer, JSONObject {
    package var schema: String { "migrate/ios-convert/1" }
    private let report: ContainerReport
    private let archive: ArchiveName?
    private let container: BytePath?
    private let isDryRun: Bool
    private let fingerprint: Fingerprint?
    private let wording: Wording

    package init(
        _ report: ContainerReport,
        to archive: ArchiveName?,
        into container: BytePath?,
        isDryRun: Bool,
        _ imported: ImportReport?,
        _ wording: Wording
    ) {
        (self.report, self.archive, self.container) = (report, archive, container)
        (self.isDryRun, self.wording) = (isDryRun, wording)
        fingerprint = imported?.fingerprint ?? report.summary?.fingerprint
    }

    private var isDone: Bool { report.summary != nil }

    package var text: String {
        let place = archive?.destinationText ?? container.map { PrintableText.escaping($0) }
        let name = PrintableText.escaping(report.domain.identifier)
        let start = (place.map { "\($0): " } ?? "") + name
        let version = report.version.map { ", version \(PrintableText.escaping($0))" } ?? ""
        let verb = isDone ? "" : isDryRun ? " would hold" : " would have held"
        var amount = "\(TotalsText(report.totals))"
        if isDone, container == nil, let bytes = report.summary?.archiveBytes {
            amount += " in \(ByteCount(bytes))"
        }
        return "\(start)\(version):\(verb) \(amount)\n"
            + (fingerprint.map { "fingerprint \($0)\n" } ?? "")
            + lines("left out", report.omitted) + lines("link", report.relinked)
            + lines("changed during the backup", report.resized) + lines("lost", report.lost)
            + remarks
    }

    private var remarks: String {
        if !isDone, !isDryRun {
            return "nothing was written, because files are lost; \(wording.step(.keepGoing))\n"
        }
        return
            "no backup holds Library/Caches, tmp, SystemData, Keychain items, or files that the app "
            + "keeps out of backups\n"
            + (report.domain.kind == .app
                ? "what the app shares in groups is in containers of its own: "
                    + "\(wording.step(.chooseGroup))\n" : "")
    }

    private func lines(_ title: String, _ list: ContainerReport.Remarks) -> String {
        Listing.text(of: list.items, count: list.count, wording) { item in
            "\(title): \(item.path) (\(PrintableText.escapingRest(of: item.reason)))"
        }
    }

    package var members: JSONMembers {
        [
            "archive": archive?.exact, "bytes": report.summary?.archiveBytes,
            "container": container.map { ExactName($0.bytes) }, "dryRun": isDryRun,
            "fingerprint": fingerprint?.description, "id": report.domain.identifier,
            "kind": "\(report.domain.kind)", "lost": report.lost, "omitted": report.omitted,
            "relinked": report.relinked, "resized": report.resized, "totals": report.totals,
            "version": report.version, "warnings": report.warnings, "written": isDone,
        ]
    }
}
