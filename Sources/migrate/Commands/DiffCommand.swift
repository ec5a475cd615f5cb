internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate diff`: shows the differences between two archives or directories, or one of each.
struct DiffCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var container: BytePath?
    private var selection = EntrySelection()
    private var includesCaches = false
    var common = CommonOptions()

    static let name = "diff"
    static let abstract = "Show the differences between any two archives and directories."

    static var arguments: [Argument<Self>] {
        [
            Argument("first", as: .archive, to: \.archive)
                .help("An archive, or '-' for standard input, or a directory."),
            EntrySelection.argument(at: \.selection)
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
        EntrySelection.included(at: \.selection)
        DecryptionFlags.included(at: \.keys)
        Flag.quiet
            .help(
                "Print no differences: the exit code is 1 if there are any, and 0 if there are none."
            )
        Flag.json
        Flag.progress
        Flag.wait
    }

    static let examples: Examples = [
        "Show what changed in a container since it was exported.":
            "migrate diff notes.tar.zst --container notes",
        "Show what changed between two exports, in one directory.":
            "migrate diff monday.tar.zst tuesday.tar.zst Documents",
        "Print nothing: the exit code says whether two directories differ.":
            "migrate diff notes copy --quiet",
    ]

    var onlyAnswers: Bool { !common.isQuiet }

    var subject: String { archive.sourceText }

    /// As in diff(1), 1 means a difference and 2 means trouble.
    func exitCode(for error: any Error) -> ExitCode {
        let code = ExitCode(for: error)
        return code == .failure ? .notCompared : code
    }

    mutating func check() throws(UsageError) {
        guard container == nil, selection.named.isEmpty else { return }
        throw UsageError("give the archive or directory to compare with, or '--container'")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        var selection = selection
        let first = side(archive)
        let second: DiffHead.Side =
            if let container {
                .directory(container)
            } else {
                side(ArchiveName(Self.path(selection.named.removeFirst())))
            }
        let rows = RowOutput(to: console.output, as: common.answersInJSON ? .json : .text)
        if !common.isQuiet { try rows.begin(DiffHead(first, second)) }
        let (differences, archive) = try await common.showingProgress(on: console) {
            [selection] progress in
            try await common.host(on: console).compare(
                tree(first, on: console),
                with: tree(second, on: console),
                only: selection,
                includesCaches: includesCaches,
                progress: progress
            ) { if !common.isQuiet { try rows.write(DifferenceRow($0)) } }
        }
        for case .archive(let name) in [first, second] {
            if let archive { console.logMissingProof(of: name.sourceText, in: archive) }
        }
        if !common.isQuiet { try rows.end() }
        return differences == 0 ? .success : .differences
    }

    /// The first of the entries names the other side instead.
    private static func path(_ entry: EntryPath) -> BytePath {
        entry.bytes.isEmpty ? "." : BytePath(entry.bytes)
    }

    /// An archive or a directory by the name on the command line.
    private func side(_ name: ArchiveName) -> DiffHead.Side {
        // Anything else is read as an archive, and that error describes the problem.
        let isDirectory =
            !name.isStream
            && (try? FileDescriptor.openFollowingLinks(name.path, .directory)) != nil
        return isDirectory ? .directory(name.path) : .archive(name)
    }

    private func tree(_ side: DiffHead.Side, on console: Console) throws -> ComparedTree {
        switch side {
        case .archive(let name): .archive(try name.source(on: console, keys: keys))
        case .directory(let path): .container(try MigrationDataContainer(atPath: path))
        }
    }
}
