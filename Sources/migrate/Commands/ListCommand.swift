internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate list`: lists the entries of an archive.
struct ListCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var backup = BackupFlags()
    private var selection = EntrySelection()
    private var format = RowFormat.text
    private var isForNcdu = false
    var common = CommonOptions()

    static let name = "list"
    static let abstract = "List the entries of an archive, as 'tar -tv' does."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive), EntrySelection.argument(at: \.selection)]
    }

    private static let jsonLines = Flag<Self>("json-lines", sets: \.format, to: .jsonLines)
        .help("Answer with one JSON document per line, each an entry.")
        .about(.running)

    private static let ncdu = Flag<Self>("ncdu", sets: \.isForNcdu)
        .help("Answer with a tree for 'ncdu -f', which shows what takes space.")
        .about(.running)

    static var flags: [Flag<Self>] {
        EntrySelection.pattern.included(at: \.selection)
        EntrySelection.included(at: \.selection)
        DecryptionFlags.included(at: \.keys)
        BackupFlags.passwordFile.included(at: \.backup)
        BackupFlags.sizeFlags.map { $0.included(at: \.backup) }
        Flag("json", sets: \.format, to: .json)
            .help("Answer with one JSON document.")
            .about(.running)
            .excluding(jsonLines)
        jsonLines
        ncdu
    }

    static let examples: Examples = [
        "List all entries.": "migrate list notes.tar.zst",
        "List the pictures, wherever they are.": "migrate list notes.tar.zst --glob '*.jpg'",
        "Look at what takes space.": "migrate list notes.tar.zst --ncdu | ncdu -f -",
    ]

    func check() throws(UsageError) {
        guard isForNcdu, format != .text else { return }
        let flag = format == .json ? "--json" : "--json-lines"
        throw UsageError("'--ncdu' can't be given together with '\(flag)'")
    }

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let rows = RowOutput(to: console.output, as: format)
        let clock = LocalClock()
        let tree = Monitor(NcduTree())
        try rows.begin(ListHead(archive))
        let source = try archive.source(on: console, keys: keys)
        let selection = try await selection.resolved(in: source)
        let search = EntrySearch(selection)
        let inspection = try await BackupOperations.inspect(
            source,
            at: backup.place(of: archive, on: console),
            spoolingTo: Environment.temporaryDirectory,
            paths: selection.guidingPaths
        ) { entry in
            guard search.finds(entry) else { return }
            if isForNcdu { return tree.withLock { $0.add(entry) } }
            try rows.write(EntryRow(entry, clock: clock))
        }
        try search.checkCompleteness()
        if isForNcdu {
            let name = archive.isStandardStream ? [UInt8(ascii: "-")] : archive.path.bytes
            try tree.withLock { $0 }.write(named: name) { try console.output.write($0.span) }
        }
        try rows.end()
        switch inspection {
        case .archive(let inspection):
            console.logMissingProof(of: archive.sourceText, in: inspection)
            return .success
        case .backup(let summary):
            for loss in summary.lost {
                console.log("migrate: warning: lost: \(loss.path) (\(loss.reason))")
            }
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}
