internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate extract`: extracts some or all entries into a directory.
struct ExtractCommand: Command {
    private(set) var archive = ArchiveName()
    private(set) var selection = EntrySelection()
    private var keys = DecryptionFlags()
    private var directory: BytePath = ""
    private var options = ImportOptions()
    private var keepsGoing = false
    private(set) var merges = false
    private var metadata = RestoredMetadataFlags()
    var common = CommonOptions()

    static let name = "extract"
    static let abstract = "Extract some or all entries of an archive into a directory."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive), EntrySelection.argument(at: \.selection)]
    }

    static var flags: [Flag<Self>] {
        Flag("to", short: "t", value: "dir", as: .directory, to: \.directory)
            .help(
                "The destination directory, which is created if it is missing; '-' writes the content "
                    + "of one file to standard output."
            )
            .about(.container)
            .required
        merge
        Flag("force", short: "f", sets: \.common.replacesExisting)
            .help("With '--merge', replace existing files.")
            .about(.container)
            .needing(merge)
        EntrySelection.pattern.included(at: \.selection)
        EntrySelection.included(at: \.selection)
        Flag.externalLinks(to: \.options.externalLinks)
        RestoredMetadataFlags.included(at: \.metadata)
        Flag.expect(to: \.options.expectedFingerprint)
        Flag("keep-going", short: "k", sets: \.keepsGoing)
            .help(
                "Restore everything that can be proved of an archive that is damaged or refused, and "
                    + "list the rest."
            )
            .about(.archive)
        DecryptionFlags.included(at: \.keys)
        Flag.json
        Flag("verbose", short: "v", sets: \.common.isVerbose)
            .help("Name each file on standard error as it goes.")
            .about(.running)
        Flag.quiet
        Flag.progress
    }

    static let examples: Examples = [
        "Extract everything into a directory.": "migrate extract notes.tar.zst --to notes",
        "Print one file.": "migrate extract notes.tar.zst Documents/list.txt --to -",
        "Restore what can be proved of a damaged archive.":
            "migrate extract damaged.tar.zst --to rescued --keep-going",
    ]

    private static let merge = Flag<Self>("merge", sets: \.merges)
        .help(
            "Extract into existing directories, which keep their permissions and times; an existing "
                + "file is an error."
        )
        .about(.container)

    mutating func check() throws(UsageError) {
        metadata.apply(to: &options)
        guard isToStandardOutput else { return }
        guard selection.paths.count == 1, selection.patterns.isEmpty else {
            throw UsageError("'--to -' needs the path of exactly one file")
        }
        let flags = [
            (common.answersInJSON, "--json"), (keepsGoing, "--keep-going"), (merges, "--merge"),
        ]
        if let flag = flags.first(where: \.0)?.1 {
            throw UsageError("'--to -' can't be given together with '\(flag)'")
        }
    }

    /// Whether the content of one file is the answer.
    private var isToStandardOutput: Bool { directory == "-" }

    var onlyAnswers: Bool { isToStandardOutput }

    var subject: String { archive.sourceText }

    var outputSubject: String { PrintableText.escaping(directory) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(common.isQuiet)
        let source = try archive.source(on: console, keys: keys)
        let selection = try await selection.resolved(in: source)
        guard !isToStandardOutput else {
            return try await write(selection, of: source, on: console)
        }
        var options = options
        options.entryHandler = console.entryLog(isVerbose: common.isVerbose)
        let report = try await common.showingProgress(on: console) { [options] progress in
            try await source.extract(
                toPath: directory,
                selecting: selection,
                keepsGoing: keepsGoing,
                policy: merges ? .merged(replacesFiles: common.replacesExisting) : .separate,
                options: options,
                progress: progress
            )
        }
        if report.isIncomplete {
            let name = archive.sourceText
            console.log("migrate: warning: \(name) is damaged: what is listed was not restored")
        } else {
            console.logMissingProof(of: archive.sourceText, in: report)
        }
        let answer = ImportAnswer(.extract, of: archive, into: directory.bytes, report, .ofFlags)
        try common.conclude(with: answer, on: console)
        return report.isIncomplete ? .failure : .success
    }

    private func write(
        _ selection: EntrySelection,
        of source: ArchiveSource,
        on console: Console
    ) async throws -> ExitCode {
        let inspection = try await common.showingProgress(on: console) { progress in
            try await source.readFile(
                at: (selection.named + selection.printed)[0],
                isPrinted: !selection.printed.isEmpty,
                expecting: options.expectedFingerprint,
                progress: progress
            ) { try console.output.write($0) }
        }
        try console.output.flush()
        console.logMissingProof(of: archive.sourceText, in: inspection)
        return .success
    }
}
