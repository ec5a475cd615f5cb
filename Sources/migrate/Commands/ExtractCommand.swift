internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate extract`: extracts some or all entries into a directory.
struct ExtractCommand: Command {
    private(set) var archive = ArchiveName()
    private(set) var selection = PathArguments()
    private var keys = DecryptionFlags()
    private var directory: BytePath = ""
    private var options = ImportOptions()
    private var answersInJSON = false
    private var isQuiet = false
    private var keepsGoing = false
    private var progress = ProgressMode.auto

    static let name = "extract"
    static let abstract = "Extract some or all entries of an archive into a directory."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive), PathArguments.argument(at: \.selection)]
    }

    static var flags: [Flag<Self>] {
        Flag("to", short: "t", value: "dir", as: .directory, to: \.directory)
            .help("The destination directory, which is created if it is missing.")
            .required
        PathArguments.pattern.included(at: \.selection)
        PathArguments.included(at: \.selection)
        Flag.externalLinks(to: \.options.externalLinks)
        Flag.expect(to: \.options.expectedFingerprint)
        Flag("keep-going", short: "k", sets: \.keepsGoing)
            .help(
                "Restore everything that can be proved of an archive that is damaged or refused, and "
                    + "list the rest."
            )
        DecryptionFlags.included(at: \.keys)
        Flag.json(sets: \.answersInJSON)
        Flag.quiet(sets: \.isQuiet)
        Flag.progress(to: \.progress)
    }

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(directory) : subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try archive.source(on: console, keys: keys)
        let report = try await ProgressDisplay.showing(
            isQuiet ? .none : progress,
            on: console
        ) { progress in
            try await source.extract(
                toPath: directory,
                only: selection.paths,
                matching: selection.patterns,
                keepsGoing: keepsGoing,
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
        let answer = ImportAnswer(
            action: .extract,
            archive: archive,
            destination: directory.bytes,
            report: report
        )
        if !isQuiet { try console.output.write(answer, inJSON: answersInJSON) }
        return report.isIncomplete ? .failure : .success
    }
}
