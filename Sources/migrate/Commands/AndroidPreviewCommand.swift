internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate android preview`: shows the data that an Android app hands over by its rules.
struct AndroidPreviewCommand: Command {
    private var rules: BytePath = ""
    private var section = RuleSection.crossPlatform
    private var manifest: BytePath?
    private var data = AndroidDataFlags()
    private var canEncrypt = true
    private var answersInJSON = false

    static let name = "android preview"
    static let abstract =
        "Show the data that an Android app hands over, and where an app on iOS receives it."

    static var arguments: [Argument<Self>] { [.rules(to: \.rules)] }

    static var flags: [Flag<Self>] {
        AndroidDataFlags.data.required.included(at: \.data)
        AndroidDataFlags.flagsOfData.map { $0.included(at: \.data) }
        Flag("section", value: "name", as: .choice, to: \.section)
            .help("The transfer: 'cross-platform', the default, 'cloud', 'device' or 'legacy'.")
            .about(.container)
        Flag.androidManifest(to: \.manifest)
        Flag("no-encryption", sets: \.canEncrypt, to: false)
            .help("Assume a transport that can't encrypt on the device.")
            .about(.container)
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example(
            "Show the data that an app hands over to iOS.",
            "migrate android preview rules.xml --data notes"
        ),
        Example(
            "Show the data that a backup in the cloud holds.",
            "migrate android preview rules.xml --data notes --section cloud"
        ),
        Example(
            "Read the data out of a backup.",
            "migrate android preview rules.xml --data notes.ab --password-file password"
        ),
    ]

    var subject: String { PrintableText.escaping(rules) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let file = try RulesFile.read(rules)
        let manifest = try manifest.map { try AppManifest(InputFile.read($0)) }
        let tree = try await data.tree(on: context.console) ?? DataTree()
        let errors = RulesLint(file, manifest: manifest, tree: tree).findings
            .filter { $0.severity == .error }
        let preview = Preview(
            file,
            section: section,
            manifest: manifest,
            tree: tree,
            canEncrypt: canEncrypt
        )
        let answer = PreviewAnswer(preview, errors: LintLines(file: subject, findings: errors))
        try context.console.output.write(answer, inJSON: answersInJSON)
        return preview.isEligible && errors.isEmpty ? .success : .findings
    }
}

// MARK: - Answer

/// The answer of `migrate android preview`.
struct PreviewAnswer: Answer {
    private struct Row: Encodable {
        let item: Preview.Item
        let isIncluded: Bool

        private enum Key: String, CodingKey {
            case domain, path, pathBase64, iosPath, iosPathBase64, bytes, rule
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(item.domain, forKey: .domain)
            try container.encode(ExactName(item.path.bytes), forKey: .path, or: .pathBase64)
            if isIncluded {
                let name = ExactName(item.iosPath.bytes)
                try container.encode(name, forKey: .iosPath, or: .iosPathBase64)
            }
            try container.encode(item.bytes, forKey: .bytes)
            try container.encode(item.rule, forKey: .rule)
        }
    }

    private enum Key: String, CodingKey {
        case section, eligible, findings, reasons, included, excluded
    }

    private let preview: Preview

    /// The mistakes in the rules that 'android lint' calls errors.
    private let errors: LintLines

    var schema: String { "migrate/android-preview/1" }

    init(_ preview: Preview, errors: LintLines) {
        self.preview = preview
        self.errors = errors
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(preview.section, forKey: .section)
        try container.encode(preview.isEligible, forKey: .eligible)
        try container.encode(errors.findings, forKey: .findings)
        try container.encode(preview.reasons, forKey: .reasons)
        let included = preview.included.map { Row(item: $0, isIncluded: true) }
        try container.encode(included, forKey: .included)
        let excluded = preview.excluded.map { Row(item: $0, isIncluded: false) }
        try container.encode(excluded, forKey: .excluded)
    }

    var text: String {
        var text =
            errors.text + "section   \(preview.section.rawValue)\n"
            + "eligible  \(preview.isEligible ? "yes" : "no")\n"
        for reason in preview.reasons {
            text += "          \(PrintableText.escapingRest(of: reason))\n"
        }
        text += Self.section("included", items: preview.included) { "\($0.iosPath)" }
        return text
            + Self.section("excluded", items: preview.excluded) { item in
                "\(item.domain.rawValue) \(item.path.bytes.isEmpty ? "." : item.path.description)"
            }
    }

    private static func section(
        _ title: String,
        items: [Preview.Item],
        name: (Preview.Item) -> String
    ) -> String {
        let bytes = items.reduce(into: UInt64(0)) { $0.addSaturating($1.bytes) }
        let rows = items.map { item in
            let size = "\(ByteCount(item.bytes))"
            let padding = String(repeating: " ", count: max(10 - size.count, 1))
            let rule = item.rule.map { "line \($0)" } ?? "-"
            let margin = String(repeating: " ", count: max(9 - rule.count, 1))
            return
                "\(padding)\(size)  \(rule)\(margin)\(name(item))\(item.isDirectory ? "/" : "")\n"
        }
        return "\(title): \(ByteCount(bytes))\n" + rows.joined()
    }
}
