import MigrationArchive
import MigrationCore
import MigrationReports
import MigrationSystem
import Testing

@testable import migrate

struct CommandTests {
    private func command<Value: Command>(_ line: String, as type: Value.Type) throws -> Value {
        let words = line.split(separator: " ").map { [UInt8]($0.utf8) }
        guard case .command(let command) = try Invocation(words) else { throw UsageError("help") }
        return try #require(command as? Value)
    }

    @Test func `reads every option of an export`() throws {
        let line =
            "export --container c --out o --bundle-id b --source-platform iOS --resources-version 2 "
            + "--no-compress --level 19 --include-caches --threads 8 --force --json --progress plain"
        let export = try command(line, as: ExportCommand.self)
        #expect(export.container == "c")
        #expect(export.archive == ArchiveName("o"))
        #expect(export.content.bundleIdentifier == "b")
        #expect(export.content.exportOptions.platform == .iOS)
        #expect(export.content.exportOptions.resourcesVersion == "2")
        #expect(!export.content.exportOptions.isCompressible)
        #expect(export.content.exportOptions.compressionLevel == 19)
        #expect(export.content.exportOptions.includesCaches)
        #expect(export.content.exportOptions.threadCount == 8)
        #expect(export.common.replacesExisting && export.common.answersInJSON)
        #expect(export.common.progress == .plain)
    }

    @Test(arguments: [
        ("export -c c --out - --sign-key k", "with '-' for the archive, there is no place"),
        ("export -c c --out - --resume", "option '--resume' is about a file"),
        ("export -c c --out o --resume --dry-run", "option '--resume' can't be given with"),
        ("export -c c --out - --json --verbose", "with '-' for the archive, --json and --verbose"),
        (
            "preflight -c c --extension e --rehearse-version 9 --archive -",
            "option '--archive' needs a file"
        ),
        ("verify a b", "unexpected argument 'b'"), ("report a b", "unexpected argument 'b'"),
        ("run -c c ls", "unexpected argument 'ls': put '--' before the command"),
    ])
    func `refuses flags that don't fit together, before anything is done`(
        _ line: String,
        _ message: String
    ) {
        let words = line.split(separator: " ").map { [UInt8]($0.utf8) }
        let error = #expect(throws: UsageError.self) { try Invocation(words) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test func `leaves out what is not given`() throws {
        let export = try command("export --container c --out -", as: ExportCommand.self)
        #expect(export.archive.isStandardStream)
        #expect(export.content.bundleIdentifier == nil)
        #expect(export.content.exportOptions.platform == nil)
        #expect(export.content.exportOptions.isCompressible)
        #expect(export.content.exportOptions.threadCount == nil)
        #expect(!export.common.replacesExisting && !export.common.answersInJSON)
        #expect(export.common.progress == .auto)
    }

    @Test func `reads every option of an import`() throws {
        let line =
            "import a --container c --replace --bundle-id b --external-links keep --threads 2"
        let command = try command(line, as: ImportCommand.self)
        #expect(command.archive == ArchiveName("a"))
        #expect(command.options.replacesExisting)
        #expect(command.options.externalLinks == .keep)
        #expect(command.options.threadCount == 2)
        #expect(command.bundleIdentifier == "b")
    }

    @Test(arguments: [
        ("Documents/", ["Documents"]), ("./Documents//", ["Documents"]), ("a/b c", ["a/b", "c"]),
        (".", []), ("./ a", []), (".hidden", [".hidden"]), ("..", [".."]), ("", []),
    ])
    func `takes paths to extract as people type them`(_ words: String, _ paths: [String]) throws {
        let extract = try command("extract a --to d \(words)", as: ExtractCommand.self)
        #expect(extract.selection.paths == paths.map { EntryPath($0) })
    }

    @Test func `passes everything after two dashes to the app`() throws {
        let run = try command("run --container c -- ls --container -h --", as: RunCommand.self)
        #expect(
            run.commandLine.map { String(decoding: $0, as: UTF8.self) }
                == ["ls", "--container", "-h", "--"]
        )
    }
}
