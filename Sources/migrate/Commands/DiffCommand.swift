internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate diff`: shows the differences between two archives or directories, or one of each.
struct DiffCommand: LockingCommand {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var container: BytePath?
    private var selection = PathArguments()
    private var includesCaches = false
    private(set) var waitLimit = Duration.zero
    private var answersInJSON = false
    private var isQuiet = false
    private var progress = ProgressMode.auto

    static let name = "diff"
    static let abstract = "Show the differences between any two archives and directories."

    static var arguments: [Argument<Self>] {
        [
            Argument("first", as: .archive, to: \.archive)
                .help("An archive, or '-' for standard input, or a directory."),
            PathArguments.argument(at: \.selection)
                .help(
                    "First the archive or directory to compare with, unless '--container' names it; then "
                        + "entries, each with everything below it. Without any, all entries."
                ),
        ]
    }

    static var flags: [Flag<Self>] {
        Flag("container", short: "c", value: "dir", as: .directory, to: \.container)
            .help("The container to compare with.")
            .about(.container)
        Flag.includeCaches(sets: \.includesCaches)
        PathArguments.included(at: \.selection)
        DecryptionFlags.included(at: \.keys)
        Flag.quiet(sets: \.isQuiet)
            .help(
                "Print no differences: the exit code is 1 if there are any, and 0 if there are none."
            )
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progress)
        Flag.wait(to: \.waitLimit)
    }

    static let examples = [
        Example(
            "Show what changed in a container since it was exported.",
            "migrate diff notes.tar.zst --container notes"
        ),
        Example(
            "Show what changed between two exports, in one directory.",
            "migrate diff monday.tar.zst tuesday.tar.zst Documents"
        ),
        Example(
            "Print nothing: the exit code says whether two directories differ.",
            "migrate diff notes copy --quiet"
        ),
    ]

    var onlyAnswers: Bool { !isQuiet }

    var subject: String { archive.sourceText }

    /// As in diff(1), 1 means a difference and 2 means trouble.
    func exitCode(for error: any Error) -> ExitCode {
        let code = ExitCode(for: error)
        return code == .failure ? .notCompared : code
    }

    mutating func check(_ given: GivenFlags) throws(UsageError) {
        guard container == nil, selection.paths.isEmpty else { return }
        throw UsageError("give the archive or directory to compare with, or '--container'")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        var selection = selection
        let first = side(archive)
        let second: Side =
            if let container {
                .directory(container)
            } else {
                side(ArchiveName(selection.takeFirst()))
            }
        let rows = RowOutput(to: console.output, as: answersInJSON ? .json : .text)
        let head = DiffHead(first, second)
        if !isQuiet { try rows.begin(head) }
        let differences = try await ProgressDisplay.showing(
            isQuiet ? .none : progress,
            on: console
        ) { [selection, isQuiet] progress in
            try await compare(first, second, selection, progress, on: console) { difference in
                if !isQuiet { try rows.write(DifferenceRow(difference)) }
            }
        }
        if !isQuiet { try rows.end() }
        return differences == 0 ? .success : .differences
    }

    /// An archive or a directory by the name on the command line.
    fileprivate enum Side {
        case archive(ArchiveName)
        case directory(BytePath)
    }

    private func side(_ name: ArchiveName) -> Side {
        // Anything else is read as an archive, and that error says what is wrong.
        let isDirectory =
            !name.isStream
            && (try? FileDescriptor.openFollowingLinks(name.path, .directory)) != nil
        return isDirectory ? .directory(name.path) : .archive(name)
    }

    private func compare(
        _ first: Side,
        _ second: Side,
        _ selection: PathArguments,
        _ progress: Progress?,
        on console: Console,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> Int {
        switch (first, second) {
        case (.archive(let name), .directory(let path)), (.directory(let path), .archive(let name)):
            let source = try name.source(on: console, keys: keys)
            let (differences, inspection) = try await source.inspectComparing(
                with: try MigrationDataContainer(atPath: path),
                only: selection.resolved(in: source, called: name).paths,
                includesCaches: includesCaches,
                host: host(on: console),
                progress: progress,
                body
            )
            console.logMissingProof(of: name.sourceText, in: inspection)
            return differences
        case (.archive(let name), .archive(let other)):
            let source = try name.source(on: console, keys: keys)
            return try await source.compare(
                with: other.source(on: console, keys: keys),
                only: selection.resolved(in: source, called: name).paths,
                body
            )
        case (.directory(let path), .directory(let other)):
            return try await host(on: console).compare(
                MigrationDataContainer(atPath: path),
                with: MigrationDataContainer(atPath: other),
                only: selection.paths,
                includesCaches: includesCaches,
                body
            )
        }
    }
}

// MARK: - Answer

/// The beginning of a comparison's answer, before the differences.
private struct DiffHead: RowsHead {
    private var archive: ExactName?
    private var container: ExactName?
    private var otherArchive: ExactName?
    private var otherContainer: ExactName?

    static let schema = "migrate/diff/1"
    static let rows = "differences"

    init(_ first: DiffCommand.Side, _ second: DiffCommand.Side) {
        for side in [first, second] {
            switch side {
            case .archive(let name) where archive == nil: archive = name.exact
            case .archive(let name): otherArchive = name.exact
            case .directory(let path) where container == nil: container = ExactName(path.bytes)
            case .directory(let path): otherContainer = ExactName(path.bytes)
            }
        }
    }

    private enum CodingKeys: String, CodingKey {
        case archive, archiveBase64, container, containerBase64
        case otherArchive, otherArchiveBase64, otherContainer, otherContainerBase64
    }

    func encode(to encoder: any Encoder) throws {
        var encoded = encoder.container(keyedBy: CodingKeys.self)
        for (name, key, other) in [
            (archive, CodingKeys.archive, CodingKeys.archiveBase64),
            (container, .container, .containerBase64),
            (otherArchive, .otherArchive, .otherArchiveBase64),
            (otherContainer, .otherContainer, .otherContainerBase64),
        ] {
            if let name { try encoded.encode(name, forKey: key, or: other) }
        }
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
        guard let aspect else { return "only in the \(side): \(path)\(ending)" }
        return "\(path): \(aspect) differ\(ending)"
    }

    /// The only side that has the entry.
    private var side: String {
        switch kind {
        case .onlyInArchive: "archive"
        case .onlyInContainer: "container"
        case .onlyInFirst: "first"
        default: "second"
        }
    }

    /// The property that differs in an entry that both sides have.
    private var aspect: String? {
        switch kind {
        case .onlyInArchive, .onlyInContainer, .onlyInFirst, .onlyInSecond: nil
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
