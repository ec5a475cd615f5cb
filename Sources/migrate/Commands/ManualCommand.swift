internal import MigrationCore
internal import MigrationReports

/// `migrate manual`: prints a manual page, or the names of all pages.
struct ManualCommand: Command {
    private var names: [String] = []
    var common = CommonOptions()

    static let name = "manual"
    static let abstract = "Print a manual page as mdoc, or list the pages."

    static var arguments: [Argument<Self>] {
        [
            Argument("page", count: .any, as: .text, appendingTo: \.names)
                .help("The name of a page, such as 'migrate-export'.")
        ]
    }

    static var flags: [Flag<Self>] {}

    static let examples: Examples = [
        "List the pages.": "migrate manual",
        "Read a page that is not installed.": "migrate manual migrate-export | man -l -",
        "Read about the archive format.": "migrate manual migrate-archive | man -l -",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { "the manual" }

    func run(in context: CommandContext) async throws -> ExitCode {
        let pages = Self.pages(of: context.tree)
        let known = pages.map(\.name)
        for name in names where !known.contains(name) {
            throw UsageError(unknown: "page", word: [UInt8](name.utf8), among: known)
        }
        let output = context.console.output
        if names.isEmpty { for page in pages { try output.write(page.name + "\n") } }
        for name in names {
            for page in pages where page.name == name { try output.write(page.text) }
        }
        return .success
    }

    /// The pages of the program, of every command and of the archive format.
    static func pages(of tree: CommandTree) -> [ManualPage] {
        let edition = ManualPage.Edition(
            version: MigrationHost.version,
            date: MigrationHost.releaseDate
        )
        let codes = ManualPage.Chapter(
            title: "EXIT STATUS",
            introduction: "The command ends with one of these codes:",
            rows: ExitCode.meanings.map { ($0.code, $0.meaning + ". Retry: \($0.retry).") }
        )
        return [ManualPage(of: tree, edition: edition, chapters: [environment, codes])]
            + tree.commands.map { ManualPage(of: $0, edition: edition, chapters: [codes]) }
            + [archive(edition)]
    }

    /// The page of the file format.
    private static func archive(_ edition: ManualPage.Edition) -> ManualPage {
        let head = """
            .Dd \(edition.date)
            .Dt MIGRATE-ARCHIVE 5
            .Os migration \(edition.version)
            .Sh NAME
            .Nm migrate-archive
            .Nd archive of an app's data container
            .Sh DESCRIPTION

            """
        let text = String(decoding: PackageResources.migrate_archive_5, as: UTF8.self)
        return ManualPage(name: "migrate-archive", section: 5, text: head + text)
    }

    private static let environment = ManualPage.Chapter(
        title: "ENVIRONMENT",
        introduction: "The program and the apps that it starts read these variables:",
        rows: [
            ("Ev MIGRATE_IDENTITY", "A file with the keys that open encrypted archives."),
            (
                "Ev MIGRATION_CONTAINER",
                "The container of the app, in which the app finds its import status; "
                    + "'migrate run' sets it."
            ),
            (
                "Ev TMPDIR",
                "The directory of temporary files, such as an extension's scratch container."
            ),
        ]
    )
}
