internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate inspect`: shows the properties of an archive.
struct InspectCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var backup = BackupFlags()
    private var answersInJSON = false

    static let name = "inspect"
    static let abstract = "Show what an archive is: app, platform, sizes, fingerprint."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    static var flags: [Flag<Self>] {
        DecryptionFlags.included(at: \.keys)
        BackupFlags.passwordFile.included(at: \.backup)
        BackupFlags.sizeFlags.map { $0.included(at: \.backup) }
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example("Show what an archive is.", "migrate inspect notes.tar.zst"),
        Example(
            "Show an encrypted archive.",
            "migrate inspect notes.tar.zst.age --identity key.txt"
        ),
        Example(
            "Print the fingerprint alone.",
            "migrate inspect notes.tar.zst --json | jq -r .fingerprint"
        ),
    ]

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let inspection = try await BackupOperations.inspect(
            archive.source(on: console, keys: keys),
            at: backup.place(of: archive, on: console),
            spoolingTo: Environment.temporaryDirectory
        )
        switch inspection {
        case .archive(let inspection):
            let answer = InspectionAnswer(archive, inspection: inspection)
            try console.output.write(answer, inJSON: answersInJSON)
            return .success
        case .backup(let summary):
            let answer = BackupAnswer(archive, summary: summary)
            try console.output.write(answer, inJSON: answersInJSON)
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}

// MARK: - Answers

/// The answer of `migrate inspect` about an archive.
struct InspectionAnswer: Answer {
    let archive: ArchiveName
    let archiveBytes: UInt64?
    let fingerprint: String?
    let frameCount: Int?
    let header: ArchiveHeader?
    let streamBytes: UInt64?
    let totals: ArchiveTotals?

    var schema: String { "migrate/inspect/1" }

    var text: String { Table(rows: rows).text }

    /// The properties, each with its name.
    var rows: [(name: String, value: String)] {
        let proof = fingerprint ?? "none: nothing proves that it is complete"
        return [("archive", archive.sourceText)] + headerRows + totalsRows + sizeRows
            + [("fingerprint", proof)]
    }

    private var activityRows: [(String, String)] {
        do throws(ArchiveError) {
            guard let activity = try header?.resumeActivity else { return [] }
            return [("activity", PrintableText.escaping(activity.activityType))]
        } catch {
            let reason = PrintableText.escaping(error.message)
            return [("activity", "unreadable, so an import refuses the archive: \(reason)")]
        }
    }

    /// Why an import refuses the header, if it does.
    private var problem: String? {
        do throws(ArchiveError) {
            try header?.check()
            return nil
        } catch {
            return error.description
        }
    }

    private func holdingRows(_ header: ArchiveHeader) -> [(String, String)] {
        let kinds: [(ExtraMetadata, String)] = [
            (.owners, "owners"), (.accessLists, "access control lists"),
            (.attributes, "all attributes"),
        ]
        let held = kinds.filter { header.extraMetadata.contains($0.0) }.map(\.1)
        return held.isEmpty ? [] : [("holds", held.joined(separator: ", "))]
    }

    private var headerRows: [(String, String)] {
        guard let header else { return [("creator", "another program")] }
        return [
            ("app", header.bundleIdentifier.map { PrintableText.escaping($0) } ?? "unknown"),
            ("platform", PrintableText.escaping(header.platform)),
            ("version", PrintableText.escaping(header.resourcesVersion)),
            ("creator", PrintableText.escaping(header.creator)),
        ] + holdingRows(header) + activityRows
            + (header.importers ?? []).map { ("for", PrintableText.escaping($0)) }
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
    init(_ archive: ArchiveName, inspection: ArchiveInspection) {
        self.init(
            archive: archive,
            archiveBytes: inspection.archiveBytes,
            fingerprint: inspection.fingerprint?.description,
            frameCount: inspection.frameCount,
            header: inspection.header,
            streamBytes: inspection.streamBytes,
            totals: inspection.totals
        )
    }
}

extension InspectionAnswer {
    private enum CodingKeys: String, CodingKey {
        case archive, archiveBase64, archiveBytes, fingerprint, frameCount, header, problem
        case streamBytes, totals
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
        try container.encodeIfPresent(archiveBytes, forKey: .archiveBytes)
        try container.encodeIfPresent(fingerprint, forKey: .fingerprint)
        try container.encodeIfPresent(frameCount, forKey: .frameCount)
        try container.encodeIfPresent(header, forKey: .header)
        try container.encodeIfPresent(problem, forKey: .problem)
        try container.encodeIfPresent(streamBytes, forKey: .streamBytes)
        try container.encodeIfPresent(totals, forKey: .totals)
    }
}

/// The answer of `migrate inspect` about an Android backup.
struct BackupAnswer: Answer {
    private struct Loss: Encodable {
        let path: String
        let reason: String
    }

    private let backup: ArchiveName
    private let isCompressed: Bool
    private let isEncrypted: Bool
    private let lost: [Loss]
    private let packages: [String: [String: BackupSummary.Amount]]
    private let transfers: [ManifestAnswer]
    private let version: Int?

    init(_ name: ArchiveName, summary: BackupSummary) {
        backup = name
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

    var schema: String { "migrate/android-backup/1" }

    private enum CodingKeys: String, CodingKey {
        case backup, backupBase64, isCompressed, isEncrypted, lost, packages, transfers, version
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(backup.exact, forKey: .backup, or: .backupBase64)
        try container.encode(isCompressed, forKey: .isCompressed)
        try container.encode(isEncrypted, forKey: .isEncrypted)
        try container.encode(lost, forKey: .lost)
        try container.encode(packages, forKey: .packages)
        try container.encode(transfers, forKey: .transfers)
        try container.encodeIfPresent(version, forKey: .version)
    }

    var text: String {
        let form =
            version.map { version in
                "an Android backup, version \(version)"
                    + (isCompressed ? ", compressed" : "") + (isEncrypted ? ", encrypted" : "")
            } ?? "data of an Android app"
        var rows = [("backup", backup.sourceText), ("form", form)]
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
