internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate diff`: shows the differences between an archive and a container.
struct DiffCommand: LockingCommand {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var container: BytePath = ""
    private var selection = PathArguments()
    private var includesCaches = false
    private(set) var waitLimit = Duration.zero
    private var answersInJSON = false
    private var progress = ProgressMode.auto

    static let name = "diff"
    static let abstract = "Show the differences between an archive and a container."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive), PathArguments.argument(at: \.selection)]
    }

    static var flags: [Flag<Self>] {
        Flag.container(help: "The container to compare with.", to: \.container)
        PathArguments.included(at: \.selection)
        Flag.includeCaches(sets: \.includesCaches)
        DecryptionFlags.included(at: \.keys)
        Flag.wait(to: \.waitLimit)
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progress)
    }

    static let examples = [
        Example(
            "Show what changed in a container since it was exported.",
            "migrate diff notes.tar.zst --container notes"
        ),
        Example("Compare one directory in it.", "migrate diff notes.tar.zst Documents -c notes"),
        Example(
            "Name the entries that differ.",
            "migrate diff notes.tar.zst -c notes --json | jq -r '.differences[].path'"
        ),
    ]

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    /// As in diff(1), 1 means a difference and 2 means trouble.
    func exitCode(for error: any Error) -> ExitCode {
        let code = ExitCode(for: error)
        return code == .failure ? .notCompared : code
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try archive.source(on: console, keys: keys)
        let other = try MigrationDataContainer(atPath: container)
        let rows = RowOutput(to: console.output, as: answersInJSON ? .json : .text)
        try rows.begin(DiffHead(archive: archive, container: container.bytes))
        let (differences, inspection) = try await ProgressDisplay.showing(
            progress,
            on: console
        ) { progress in
            try await source.inspectComparing(
                with: other,
                only: selection.paths,
                includesCaches: includesCaches,
                host: host(on: console),
                progress: progress
            ) { difference in
                try rows.write(DifferenceRow(difference))
            }
        }
        try rows.end()
        console.logMissingProof(of: archive.sourceText, in: inspection)
        return differences == 0 ? .success : .differences
    }
}

// MARK: - Answer

/// What a comparison says before the differences.
private struct DiffHead: RowsHead {
    let archive: ArchiveName
    let container: [UInt8]

    static let schema = "migrate/diff/1"
    static let rows = "differences"

    private enum CodingKeys: String, CodingKey {
        case archive, archiveBase64, container, containerBase64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
        let name = ExactName(self.container)
        try container.encode(name, forKey: .container, or: .containerBase64)
    }
}

/// A difference as a row of the answer.
struct DifferenceRow: Row {
    let path: EntryPath
    let kind: ArchiveDifference.Kind
    let detail: String

    static let schema = "migrate/difference/1"

    func append(to text: inout [UInt8]) {
        text.append(contentsOf: line.utf8)
    }

    /// The row without the end of the line.
    var line: String {
        let ending = detail.isEmpty ? "" : " (\(detail))"
        guard let aspect else {
            let side = kind == .onlyInArchive ? "archive" : "container"
            return "only in the \(side): \(path)\(ending)"
        }
        return "\(path): \(aspect) differ\(ending)"
    }

    /// The property that differs in an entry that both sides have.
    private var aspect: String? {
        switch kind {
        case .onlyInArchive, .onlyInContainer: nil
        case .kind: "kinds"
        case .content: "contents"
        case .permissions: "permissions"
        case .owner: "owners"
        case .modificationTime: "modification times"
        case .linkTarget: "link targets"
        case .hardLink: "hard links"
        case .extendedAttributes: "extended attributes"
        }
    }
}

extension DifferenceRow {
    init(_ difference: ArchiveDifference) {
        self.init(path: difference.path, kind: difference.kind, detail: difference.detail)
    }

    private enum Key: String, CodingKey {
        case detail, kind, path, pathBase64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(ExactName(path.bytes), forKey: .path, or: .pathBase64)
        try container.encode(kind, forKey: .kind)
        if !detail.isEmpty { try container.encode(detail, forKey: .detail) }
    }
}
