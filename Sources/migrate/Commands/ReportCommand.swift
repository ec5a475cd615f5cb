internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate report`: writes a page that shows what an archive or a container holds.
struct ReportCommand: Command {
    private var archive: ArchiveName?
    private var keys = DecryptionFlags()
    private var shown: BytePath?
    private var container: BytePath?
    private var session: BytePath?
    private var includesCaches = false
    private var page: BytePath?
    private var results: BytePath?
    var common = CommonOptions()

    static let name = "report"
    static let abstract =
        "Show an archive, a container or a session on an HTML page, or sum up many runs."

    static var arguments: [Argument<Self>] {
        [
            Argument("archive", count: .optional, as: .archive) { $0.archive = $1 }
                .help("The archive, or '-' for standard input.")
        ]
    }

    static var flags: [Flag<Self>] {
        Flag("out", short: "o", value: "file", as: .path, to: \.page)
            .help("The page to write; by default standard output, unless it is a terminal.")
        Flag("container", short: "c", value: "dir", as: .directory, to: \.shown)
            .help("Show this container instead of an archive, and what an export leaves out.")
            .about(.container)
            .excluding(against)
        results
        Flag.json.needing(results)
        against
        Flag("session", value: "file", as: .path, to: \.session)
            .help("Also show the session that 'export' or 'import --session-log' wrote here.")
        Flag.includeCaches(sets: \.includesCaches)
        DecryptionFlags.included(at: \.keys)
        Flag.wait
        Flag.force(replacing: "a page")
        Flag.progress
    }

    static let examples: Examples = [
        "Show what is in an archive.": "migrate report notes.tar.zst --out notes.html",
        "Show what is in a container, and what an export leaves out.":
            "migrate report --container notes --out notes.html",
        "Sum up many runs, which appended a line to a file.":
            "migrate report --results runs.jsonl --out fleet.html",
    ]

    private static let results = Flag<Self>("results", value: "file", as: .path, to: \.results)
        .help(
            "Sum up the lines that '--result' of other commands wrote, in place of an archive: as "
                + "text, or as a page with '--out'."
        )

    private static let against = Flag<Self>(
        "against",
        value: "dir",
        as: .directory,
        to: \.container
    )
    .help("Also show the differences from this container.")
    .about(.container)
    .excluding(results)

    var onlyAnswers: Bool { true }

    var subject: String {
        archive?.sourceText ?? (shown ?? results ?? session).map { PrintableText.escaping($0) }
            ?? ""
    }

    var outputSubject: String { page.map { PrintableText.escaping($0) } ?? subject }

    func check() throws(UsageError) {
        guard results == nil else {
            guard archive == nil, shown == nil, session == nil, !includesCaches else {
                throw UsageError("'--results' is given in place of all else that a page can show")
            }
            return
        }
        guard archive != nil || shown != nil || session != nil else {
            throw UsageError(
                "give an archive, '--container <dir>', '--session <file>' or '--results <file>'"
            )
        }
        guard archive == nil || shown == nil else {
            throw UsageError("'--container' can't be given with an archive; see '--against'")
        }
        guard let container else {
            guard !includesCaches || shown != nil else {
                throw UsageError("option '--include-caches' needs '--against' or '--container'")
            }
            return
        }
        guard let archive else { throw UsageError("option '--against' needs an archive") }
        guard !archive.isStandardStream else {
            let name = PrintableText.escaping(container)
            throw UsageError(
                "--against \(name) reads the archive twice, and standard input can't be"
            )
        }
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        if let results {
            try sumUp(results, on: console)
            return .success
        }
        guard page != nil || !StandardStream.output.isTerminal else {
            throw UsageError("standard output is a terminal: name the page to write with '--out'")
        }
        let log = try session.map { try SessionLog.read($0) }
        var page: ReportPage
        if let archive {
            page = try await self.page(about: archive, on: console)
        } else if let shown {
            page = try await ReportPage(
                about: MigrationDataContainer(atPath: shown),
                at: shown,
                includesCaches: includesCaches,
                by: common.host(on: console)
            )
        } else {
            page = ReportPage(title: subject, facts: [], tree: nil)
        }
        page.session = log
        try write(page.html(), on: console)
        return .success
    }

    private func page(about archive: ArchiveName, on console: Console) async throws -> ReportPage {
        let tree = Monitor(ReportTree())
        let source = try archive.source(on: console, keys: keys)
        if let container {
            let other = try MigrationDataContainer(atPath: container)
            _ = try await common.showingProgress(on: console) { progress in
                try await source.compare(
                    with: other,
                    includesCaches: includesCaches,
                    host: common.host(on: console),
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
        var page = ReportPage(
            title: archive.sourceText,
            facts: InspectionAnswer(archive, inspection: inspection).rows,
            tree: tree.withLock { $0 }
        )
        page.comparedWith = container.map { PrintableText.escaping($0.bytes) }
        return page
    }

    private func sumUp(_ results: BytePath, on console: Console) throws {
        let summary = try FleetSummary(readingFileAt: results, SignalWatch.interruption)
        let report = FleetReport(summary: summary)
        guard page != nil, !common.answersInJSON else {
            return try common.answer(with: report, on: console)
        }
        try write(report.html(title: PrintableText.escaping(results)), on: console)
    }

    private func write(_ html: String, on console: Console) throws {
        guard let page, page != "-" else { return try console.output.write(html) }
        try PageFile(at: page, replacesExisting: common.replacesExisting).write(html)
    }
}
