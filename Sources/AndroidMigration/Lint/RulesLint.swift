internal import MigrationArchive
internal import MigrationSystem

/// Checks a rules file for mistakes that a device ignores silently.
public struct RulesLint: Sendable {
    /// The findings, in the order of their lines.
    public let findings: [LintFinding]

    /// Whether any finding is an error.
    public var hasErrors: Bool { findings.contains { $0.severity == .error } }

    /// Checks a rules file.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - name: The file's name without its suffix, by which the manifest refers to it.
    ///   - manifest: The app's settings for backups.
    ///   - tree: The app's storage, to which the rules are applied.
    /// - Returns: The findings; only `not-rules-file` if the file is not a rules file.
    package static func check(
        _ bytes: [UInt8],
        named name: String? = nil,
        manifest: AppManifest? = nil,
        tree: DataTree? = nil
    ) -> RulesLint {
        do throws(AndroidMigrationError) {
            var file = try RulesFile(bytes)
            file.name = name
            return RulesLint(file, manifest: manifest, tree: tree)
        } catch {
            let finding = LintFinding(
                code: .notRulesFile,
                severity: .error,
                line: error.line ?? 1,
                message: error.message,
                fix: "give the file that android:dataExtractionRules or fullBackupContent names"
            )
            return RulesLint(findings: [finding])
        }
    }

    private init(findings: [LintFinding]) {
        self.findings = findings
    }

    /// Checks rules that were already read.
    package init(_ file: RulesFile, manifest: AppManifest?, tree: DataTree?) {
        var checks = FileChecks(file, manifest: manifest)
        checks.run()
        var findings = checks.findings
        for kind in RuleSection.allCases {
            let sections = file.sections.filter { $0.kind == kind }
            guard !sections.isEmpty else { continue }
            var checks = SectionChecks(sections, tree: tree)
            checks.run()
            findings += checks.findings
            if let tree {
                var checks = DataChecks(file, kind: kind, tree: tree)
                checks.run()
                findings += checks.findings
            }
        }
        self.findings = findings.enumerated()
            .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
    }
}

// MARK: - The file

/// The checks of a file as a whole.
private struct FileChecks {
    private let file: RulesFile
    private let manifest: AppManifest?
    private(set) var findings: [LintFinding] = []

    init(_ file: RulesFile, manifest: AppManifest?) {
        (self.file, self.manifest) = (file, manifest)
    }

    mutating func run() {
        checkManifest()
        checkMissingSections()
        for (name, line) in file.unknownElements {
            findings.report(
                .unknownSection,
                severity: .error,
                line: line,
                message:
                    "'\(PrintableText.escaping(name))' is no section, so Android passes over it, and the "
                    + "transfer that it was meant for takes everything",
                fix: "name it 'cloud-backup', 'device-transfer' or 'cross-platform-transfer'"
            )
        }
        for kind in [RuleSection.cloud, .device, .crossPlatform] {
            let repeated = Dictionary(
                grouping: file.sections.filter { $0.kind == kind },
                by: \.platform
            )
            for section in repeated.values.flatMap({ $0.dropFirst() }) {
                findings.report(
                    .duplicateSection,
                    severity: .warning,
                    line: section.line,
                    message: "'\(kind.elementName)' comes again, and the rules of both add up",
                    fix: "put the rules into one section"
                )
            }
        }
    }

    private mutating func checkManifest() {
        guard let manifest else { return }
        for obstacle in manifest.obstacles(to: file) {
            findings.report(
                LintFinding.Code(of: obstacle.kind),
                severity: .error,
                line: file.line,
                message: obstacle.message,
                fix: obstacle.fix
            )
        }
        if !manifest.unknownSettings.isEmpty {
            findings.report(
                .unknownSetting,
                severity: .warning,
                line: file.line,
                message:
                    "only a build knows the manifest's \(manifest.unknownSettings.joined(separator: ", "))",
                fix: "give the merged manifest of a build"
            )
        }
        findings.report(
            .mergedManifest,
            severity: .note,
            line: file.line,
            message:
                "the manifest of a library or a build variant can change allowBackup, the agent and the "
                + "rules; the merged manifest of the build has what counts",
            fix: "give the merged manifest"
        )
        checkAllowBackup(manifest)
    }

    private mutating func checkAllowBackup(_ manifest: AppManifest) {
        guard !manifest.allowsBackup, let line = manifest.applicationLine else { return }
        let hasSection = file.sections.contains { $0.kind == .crossPlatform }
        findings.report(
            .allowBackupFalse,
            severity: hasSection ? .error : .warning,
            line: file.line,
            message:
                "the manifest says allowBackup=\"false\" (line \(line)): nothing goes "
                + "to the cloud or to iOS, yet a transfer between Android devices still takes place",
            fix: "set android:allowBackup=\"true\", and exclude what must stay by rules"
        )
    }

    private mutating func checkMissingSections() {
        let kinds = Set(file.sections.map(\.kind))
        if !kinds.contains(.crossPlatform) {
            findings.report(
                .noCrossPlatformSection,
                severity: file.isLegacy ? .note : .warning,
                line: file.line,
                message: "without a 'cross-platform-transfer' section the app hands nothing to iOS",
                fix: file.isLegacy
                    ? "add a file of 'data-extraction-rules' beside this one"
                    : "add <cross-platform-transfer platform=\"ios\"> with platform-specific-params"
            )
        }
        guard !file.isLegacy else { return }
        for (kind, effect) in [
            (
                RuleSection.cloud,
                "a backup in the cloud follows the older format's file, or takes all"
            ),
            (.device, "a transfer between devices takes everything"),
        ] where !kinds.contains(kind) {
            findings.report(
                .missingSection,
                severity: .warning,
                line: file.line,
                message: "there is no '\(kind.elementName)', so \(effect)",
                fix: "add the section with the rules that are meant"
            )
        }
    }
}

extension LintFinding.Code {
    fileprivate init(of kind: AppManifest.Obstacle.Kind) {
        self =
            switch kind {
            case .invalidSetting: .invalidSetting
            case .keyValueAgent: .keyValueAgent
            case .noApplication: .noApplication
            case .rulesNotNamed: .rulesNotNamed
            }
    }
}
