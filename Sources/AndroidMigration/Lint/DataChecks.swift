internal import MigrationArchive
internal import MigrationSystem

/// The effect of one kind of rules on the storage of a real app.
struct DataChecks {
    private let file: RulesFile
    private let kind: RuleSection
    private let tree: DataTree
    private let sections: [RulesFile.Section]
    private(set) var findings: [LintFinding] = []

    init(_ file: RulesFile, kind: RuleSection, tree: DataTree) {
        (self.file, self.kind, self.tree) = (file, kind, tree)
        sections = file.sections(of: kind)
    }

    mutating func run() {
        guard !sections.isEmpty, sections.allSatisfy({ $0.abort == nil }) else { return }
        let terms = TransferTerms(file, section: kind, manifest: nil, canEncrypt: true)
        let selection = Selection(terms.rules, in: tree, flags: terms.flags)
        for rule in terms.rules where rule.ignoreReason == nil { checkTarget(of: rule) }
        reportBytes(of: terms.rules, in: selection)
        checkUnnamedData(by: terms.rules)
        checkSecrets(in: selection)
    }

    private mutating func checkTarget(of rule: BackupRule) {
        guard let target = rule.target, !rule.namesWholeDomain, !Selection.isNeverSent(target),
            Selection.targets(of: rule, in: tree).isEmpty
        else { return }
        findings.report(
            .deadRule,
            severity: .warning,
            line: rule.line,
            message:
                "the \(rule.action.rawValue) of '\(PrintableText.escaping(rule.path ?? ""))' names "
                + "nothing that is there"
                + (rule.action == .include ? "; it still keeps out all that no include names" : ""),
            fix: "correct the name, or take the rule out"
        )
    }

    private mutating func reportBytes(of rules: [BackupRule], in selection: Selection) {
        let bytes = selection.bytesByRule
        for rule in rules where rule.ignoreReason == nil {
            let verb = rule.action == .include ? "sends" : "keeps back"
            findings.report(
                .ruleBytes,
                severity: .note,
                line: rule.line,
                message: "the rule \(verb) \(bytes[rule.line] ?? 0) bytes",
                fix: "no change is needed"
            )
        }
    }

    /// Reports the databases and preferences that a section's rules don't mention.
    private mutating func checkUnnamedData(by rules: [BackupRule]) {
        let targets = Set(
            rules.flatMap { rule in
                (rule.target.map { [$0] + rule.companions(of: $0) }) ?? []
            }.map(\.levelHash)
        )
        guard !targets.isEmpty else { return }
        let domains: [StorageDomain] = [
            .database, .deviceDatabase, .sharedPreferences, .deviceSharedPreferences,
        ]
        for domain in domains {
            guard let directory = tree.index(of: domain.iosPath) else { continue }
            for index in tree.children(of: directory) {
                let node = tree[index]
                let path = tree.path(of: index)
                let isSidecar = ["-journal", "-wal", "-shm"].contains {
                    path.bytes.suffix($0.utf8.count).elementsEqual($0.utf8)
                }
                guard case .file = node.kind, !isSidecar,
                    !path.levelHashes.contains(where: targets.contains)
                else { continue }
                findings.report(
                    .unnamedData,
                    severity: .note,
                    line: sections[0].line,
                    message: "no rule of '\(kind.elementName)' names \(path)",
                    fix: "include or exclude it, so that the next reader knows what was meant"
                )
            }
        }
    }

    private mutating func checkSecrets(in selection: Selection) {
        for item in selection.included {
            guard let secret = tree[item.index].secret else { continue }
            let path = tree.path(of: item.index)
            findings.report(
                .deviceBoundSecret,
                severity: .error,
                line: item.rule ?? sections[0].line,
                message:
                    "'\(kind.elementName)' sends \(path): \(secret.rawValue); elsewhere it can't be "
                    + "read, and apps that open it crash",
                fix: "exclude domain=\"\(item.domain.rawValue)\" path=\"\(item.path)\""
            )
        }
    }
}
