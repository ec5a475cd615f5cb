import MigrationArchive
import MigrationCore

/// `migrate extract`: some or all entries into a directory.
struct ExtractCommand: Command {
    static let description = CommandDescription(
        name: "extract",
        abstract: "Extract some or all entries of an archive into a directory.",
        arguments: [
            .archive,
            ArgumentDescription(
                name: "path",
                help: "An entry, with everything below it; without any, all entries.",
                count: .any
            ),
        ],
        options: [
            OptionDescription(
                name: "to",
                help: "The directory, which is made if it is missing.",
                valueName: "dir",
                isRequired: true,
                completion: .directory
            ),
            .externalLinks,
        ] + DecryptionOptions.descriptions + [
            .json,
            .progress,
        ]
    )

    let archive: ArchiveName
    let directory: [UInt8]
    let paths: [EntryPath]
    let options: ImportOptions
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(directory) : subject
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        directory = try arguments.path("to")
        var paths: [EntryPath] = []
        for index in arguments.words.indices.dropFirst() {
            paths.append(Self.entryPath(try arguments.path(at: index, "path")))
        }
        self.paths = paths.contains(EntryPath("")) ? [] : paths
        var options = ImportOptions()
        options.externalLinks = try arguments.externalLinks
        self.options = options
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let report = try await ProgressDisplay.showing(progress, on: context.console) { progress in
            try await source.extract(
                toPath: directory,
                only: paths,
                options: options,
                progress: progress
            )
        }
        context.console.logMissingProof(of: archive, report)
        let answer = ImportAnswer(archive, verb: "extracted", into: directory, report)
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }

    /// The entry that a path means as people type it: `./Documents/` is `Documents`, `.` is all.
    private static func entryPath(_ path: [UInt8]) -> EntryPath {
        let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
        var rest = path[...]
        while rest.starts(with: [dot, slash]) { rest = rest.dropFirst(2).drop { $0 == slash } }
        while rest.count > 1, rest.last == slash { rest.removeLast() }
        return EntryPath(bytes: rest.elementsEqual([dot]) ? [] : Array(rest))
    }
}
