import AndroidMigration
import MigrationArchive

/// What `migrate inspect` answers of a backup of Android's.
struct BackupAnswer: Answer {
    private struct Loss: Encodable {
        let path: String
        let reason: String
    }

    private let schema = "migrate/android-backup/1"
    private let backup: String
    private let isCompressed: Bool
    private let isEncrypted: Bool
    private let lost: [Loss]
    private let packages: [String: [String: BackupSummary.Amount]]
    private let transfers: [ManifestAnswer]
    private let version: Int?

    init(_ name: ArchiveName, _ summary: BackupSummary) {
        backup = name.sourceText
        isCompressed = summary.form?.isCompressed ?? false
        isEncrypted = summary.form?.isEncrypted ?? false
        version = summary.form?.version
        lost = summary.lost.map { Loss(path: $0.path, reason: $0.reason) }
        transfers = summary.manifests.map(ManifestAnswer.init)
        packages = Dictionary(
            uniqueKeysWithValues: summary.packages.map { name, amounts in
                let rows = amounts.map { ($0.key.rawValue, $0.value) }
                return (name, Dictionary(uniqueKeysWithValues: rows))
            }
        )
    }

    var text: String {
        let form =
            version.map { version in
                "an Android backup, version \(version)"
                    + (isCompressed ? ", compressed" : "") + (isEncrypted ? ", encrypted" : "")
            } ?? "data of an Android app"
        var rows = [("backup", backup), ("form", form)]
        for (name, domains) in packages.sorted(by: { $0.key < $1.key }) {
            rows.append(("package", name.isEmpty ? "not named" : PrintableText.escaping(name)))
            for domain in StorageDomain.allCases {
                guard let amount = domains[domain.rawValue] else { continue }
                let files = GroupedCount(amount.files).of("file", "files")
                rows.append(("  \(domain.rawValue)", "\(files), \(ByteCount(amount.bytes))"))
            }
        }
        for loss in lost { rows.append(("lost", "\(loss.path) (\(loss.reason))")) }
        return Table(rows: rows).text + transfers.map(\.text).joined()
    }
}
