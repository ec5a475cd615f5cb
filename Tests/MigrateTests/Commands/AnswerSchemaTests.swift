import Foundation
import MigrationArchive
import MigrationSystem
import PropertyLists
import TestSupport
import Testing

@testable import AndroidMigration
@testable import IPhoneBackups
@testable import MigrationContainers
@testable import MigrationCore
@testable import MigrationHosting
@testable import MigrationReports
@testable import StoreMigration
@testable import migrate

/// The members that answers declare, against the schemas, which are written by hand.
@Suite(.scratchDirectory)
struct AnswerSchemaTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.shell("mkdir -p app/files; echo x >app/files/x; echo '{}' >store; : >runs")
    }

    private func path(_ name: String) -> BytePath { BytePath(place.path(name)) }

    private static let archive = ArchiveName("a")

    private static let entry = EntryRow(
        ArchiveEntry(
            path: EntryPath("a"),
            kind: .file(size: 0),
            permissions: 0,
            modificationTime: FileTime(seconds: 0),
            owner: FileOwner(user: 0, group: 0)
        ),
        clock: LocalClock()
    )

    private static let inspection = InspectionAnswer(
        archive,
        inspection: ArchiveInspection(
            header: nil,
            totals: nil,
            fingerprint: nil,
            archiveBytes: nil,
            streamBytes: nil,
            frameCount: nil,
            lacksEndMark: false,
            hasTrailer: false,
            isAndroidBackup: false
        )
    )

    /// The members of answers about archives and containers, by the names of their schemas.
    private func membersOfArchives() throws -> [(String, JSONMembers)] {
        let export = try AnswerTests.export(omitting: 1)
        let existing = ExistingArchiveAnswer(Self.archive, .kept, fingerprint: nil)
        let difference = DifferenceRow(path: EntryPath("a"), kind: .content, detail: "")
        let recovery = RecoveryReport(outcome: .nothing, problem: nil, keptPaths: [[0x61]])
        let lost = UnsoundAnswer(Self.archive, checked: .everything, lost: nil, .ofFlags)
        let verification = VerificationAnswer(Self.inspection, checked: .everything)
        return [
            ("entry", Self.entry.members),
            ("error", ErrorAnswer(code: .failure, name: "", message: "").members),
            ("existing", existing.members),
            ("export", export.members),
            ("fingerprint", FingerprintAnswer(export.report).members),
            ("import", try AnswerTests.imported(.import).members),
            ("extract", try AnswerTests.imported(.extract).members),
            ("inspect", Self.inspection.members),
            ("verify", verification.members + lost.members),
            ("list", ListHead(Self.archive).members + ["entries": [Self.entry]]),
            (
                "diff",
                DiffHead(.archive(Self.archive), .directory("b")).members
                    + ["differences": [difference]]
            ),
            ("recover", RecoverAnswer(recovery, of: "a", problem: nil, .ofFlags).members),
            ("results", try FleetReport(summary: fleet()).members),
            ("status", StatusAnswer(nil).members),
        ]
    }

    private func fleet() throws -> FleetSummary {
        try FleetSummary(readingFileAt: path("runs"), CancellationFlag())
    }

    /// The members of answers about backups of phones.
    private func membersOfPhones() throws -> [(String, JSONMembers)] {
        let list = ConversionReport.List()
        let converted = ConversionReport(
            package: "",
            header: nil,
            totals: ArchiveTotals(),
            bytes: 0,
            fingerprint: nil,
            omitted: list,
            salvaged: [],
            lost: list,
            inside: list
        )
        let summary = try BackupSummary(
            .tree(RawTree(path("app"))),
            on: MigrationOperation()
        ) { _ in }
        let apps = try AppLists(manifest: .read([UInt8](Self.applications.utf8)))
        let container = ContainerReport(domain: Domain(.app, "a"), version: nil, warnings: [])
        let app = PlatformParameters(bundleIdentifier: "", teamIdentifier: "", contentVersion: "")
        let manifest = CrossPlatformManifest(package: "", parameters: [app])
        return [
            ("android-backup", BackupAnswer(Self.archive, summary: summary).members),
            (
                "android-convert",
                ConversionAnswer(Self.archive, report: converted, .ofFlags).members
            ),
            (
                "android-lint",
                LintAnswer(file: "", findings: [], showsNotes: false, .ofFlags).members
            ),
            ("android-manifest", ManifestAnswer(manifest).members),
            ("android-preview", try preview().members),
            (
                "ios-apps",
                IOSAppsAnswer(IPhoneBackups.BackupContents(apps), warnings: [], .ofFlags).members
            ),
            (
                "ios-convert",
                IOSConvertAnswer(
                    container,
                    to: nil,
                    into: nil,
                    isDryRun: false,
                    nil,
                    .ofFlags
                ).members
            ),
        ]
    }

    private static let applications =
        "<plist><dict><key>Applications</key><dict><key>a</key><dict/></dict></dict></plist>"

    private func preview() throws -> PreviewAnswer {
        PreviewAnswer(
            of: try RulesFile([UInt8]("<full-backup-content/>".utf8)),
            named: "",
            section: .legacy,
            manifest: nil,
            tree: DataTree(),
            canEncrypt: true
        )
    }

    /// The members of answers about stores.
    private func membersOfStores() throws -> [(String, JSONMembers)] {
        let facts = try StoreFacts(of: URL(filePath: place.path("store")))
        let report = StorePlanMessage.Report(
            store: "",
            from: nil,
            to: "",
            steps: [],
            outcome: .current
        )
        return [
            ("store-check", StoreCheckAnswer(facts, model: nil, nil) { _ in nil }.members),
            ("store-upgrade", StoreUpgradeAnswer(report, nil) { _ in nil }.members),
        ]
    }

    /// Members that one command never has of those that two share.
    private static let unused: [String: Set<String>] = [
        "extract": ["command", "dryRun", "isSkipped", "keptContainer", "replaced"],
        // An archive whose header an import refuses is an error.
        "verify": ["problem"],
    ]

    /// Answers that are encoded by their stored properties.
    private func storedAnswers() throws -> [(String, Any)] {
        let report = PreflightReport(
            name: "",
            entitlement: nil,
            groups: [],
            exports: nil,
            imports: false,
            availableSpace: nil,
            confinement: .ownProcess,
            paths: .unchanged,
            warnings: [],
            findings: []
        )
        let timeline = SessionTimeline(
            name: "",
            seconds: 0,
            appendCount: 0,
            appendedBytes: 0,
            appends: [],
            waits: [],
            progress: [],
            limits: .init(hangTimeout: 0, gracePeriod: 0, temporarySpace: 0, memoryLimit: nil)
        )
        let fingerprint = try AnswerTests.export(omitting: 0).report.fingerprint
        let result = RunResult(
            operation: "",
            container: "",
            archive: [],
            outcome: RunOutcome(),
            code: 0
        )
        return [
            ("preflight", report),
            ("receive", ReceiveAnswer(.init(fingerprint: fingerprint, isUnchanged: false))),
            ("result", result), ("session", SessionLog(timeline: timeline, error: nil)),
        ]
    }

    @Test func `are those of the schemas`() throws {
        let all = try membersOfArchives() + membersOfPhones() + membersOfStores()
        for (name, members) in all { try expect(members, in: schema(name), of: name) }
        let stored = try storedAnswers()
        for (name, answer) in stored {
            let properties = Mirror(reflecting: answer).children.compactMap(\.label)
            try expect(JSONMembers(properties.map { ($0, "") }), in: schema(name), of: name)
        }
        let names = ["common"] + all.map(\.0) + stored.map(\.0)
        let files = try FileManager.default.contentsOfDirectory(atPath: AnswerSchemas.directory)
        #expect(Set(files) == Set(names.map { "\($0)-1.json" }))
    }

    private func schema(_ name: String) throws -> [String: Any] {
        let file = URL(filePath: AnswerSchemas.directory).appending(path: "\(name)-1.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        return try #require(document as? [String: Any])
    }

    private func expect(_ members: JSONMembers, in schema: [String: Any], of name: String) throws {
        let properties = try #require(schema["properties"] as? [String: [String: Any]], "\(name)")
        let declared = Self.plain(members.list.map(\.name)).subtracting(Self.unused[name] ?? [])
        #expect(declared == Self.plain(properties.keys).subtracting(["schema"]), "\(name)")
        let required = schema["required"] as? [String] ?? []
        #expect(declared.union(["schema"]).isSuperset(of: required), "\(name)")
        let absent = members.list.filter { $0.value == nil }.map(\.name)
        #expect(Set(required).isDisjoint(with: absent), "\(name)")
        for (member, value) in members.list {
            let part =
                value as? JSONMembers ?? (value as? any JSONObject)?.members
                ?? (value as? [JSONMembers])?.first ?? (value as? [any JSONObject])?.first?.members
            guard let part, let property = properties[member] else { continue }
            try expect(part, in: resolved(property), of: "\(name).\(member)")
        }
    }

    /// The names without those of other forms, such as `pathBase64` beside `path`.
    private static func plain(_ names: some Sequence<String>) -> Set<String> {
        let names = Set(names)
        return names.filter { !$0.hasSuffix("Base64") || !names.contains("\($0.dropLast(6))") }
    }

    /// The schema of the objects at a property: what it refers to, or the elements of an array.
    private func resolved(_ schema: [String: Any]) throws -> [String: Any] {
        if let reference = schema["$ref"] as? String {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            let parts = try self.schema("common")["$defs"] as? [String: [String: Any]]
            return try resolved(#require(parts?[name]))
        }
        return try (schema["items"] as? [String: Any]).map(resolved) ?? schema
    }
}
