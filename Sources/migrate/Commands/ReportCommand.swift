internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate report`: writes a page that shows what an archive holds.
struct ReportCommand: LockingCommand, ReplacingCommand {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var container: BytePath?
    private var includesCaches = false
    private var page: BytePath?
    private(set) var replacesExisting = false
    private(set) var waitLimit = Duration.zero
    private var progress = ProgressMode.auto

    static let name = "report"
    static let abstract = "Write an HTML page that shows what an archive holds."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    static var flags: [Flag<Self>] {
        Flag("out", value: "file", as: .path, to: \.page)
            .help("The page to write; by default standard output.")
        against
        Flag.includeCaches(sets: \.includesCaches).needing(against)
        DecryptionFlags.included(at: \.keys)
        Flag.wait(to: \.waitLimit)
        Flag.force(replacing: "a page", sets: \.replacesExisting)
        Flag.progress(to: \.progress)
    }

    private static let against = Flag<Self>(
        "against",
        value: "dir",
        as: .directory,
        to: \.container
    )
    .help("Also show the differences from this container.")

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? page.map { PrintableText.escaping($0.bytes) } ?? subject : subject
    }

    func check(_ given: GivenFlags) throws(UsageError) {
        guard container == nil || !archive.isStandardStream else {
            throw UsageError("--against reads the archive twice, and standard input can't be")
        }
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let tree = Monitor(ReportTree())
        let source = try archive.source(on: console, keys: keys)
        if let container {
            let other = try MigrationDataContainer(atPath: container)
            _ = try await ProgressDisplay.showing(progress, on: console) { progress in
                try await source.compare(
                    with: other,
                    includesCaches: includesCaches,
                    host: host(on: console),
                    progress: progress
                ) { difference in
                    let text = DifferenceRow(difference).line
                    tree.withLock { $0.note(difference, as: text) }
                }
            }
        }
        let inspection = try await source.forEachEntry { entry in
            tree.withLock { $0.add(entry) }
        }
        let page = ReportPage(
            title: archive.sourceText,
            facts: InspectionAnswer(archive, inspection: inspection).rows,
            tree: tree.withLock { $0 },
            comparedWith: container.map { PrintableText.escaping($0.bytes) }
        )
        try write(page.html(), on: console)
        return .success
    }

    private func write(_ html: String, on console: Console) throws {
        guard let page else { return try console.output.write(html) }
        do throws(SystemError) {
            try PendingFile.write(
                [UInt8](html.utf8),
                at: BytePath(resolving: page),
                replacesExisting: replacesExisting
            )
        } catch {
            throw MigrationError(
                error.isExisting ? .outputExists : .outputFailed,
                error.isExisting ? "the page exists already" : "the page can't be written",
                path: page,
                cause: error.isExisting ? nil : error
            )
        }
    }
}
