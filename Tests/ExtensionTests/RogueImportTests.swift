import Foundation
import MigrationCore
import TestSupport
import Testing

/// What a host makes of an import by a process that works against it.
@Suite(.scratchDirectory)
struct RogueImportTests {
    private let stage: Stage

    init() throws {
        stage = try Stage()
    }

    /// The path of a name in the staged container, in the shell's notation.
    private func staged(_ name: String) -> String {
        let path = stage.root / ".destination.migration-staging"
        return "'\(String(decoding: path.bytes, as: UTF8.self))'\(name)"
    }

    @Test func `starts no import before the archive is proved whole`() async throws {
        try await stage.makeArchive("", files: ["a": "a"])
        let item = staged("/.migration/import/a")
        // It says that it is done where it finds the archive's item, and takes its place where not.
        let hostile = try stage.shell(
            """
            \(ShellMessage.describingImport())
            if [ -e \(item) ]; then \(ShellMessage.finishingImport); fi
            while :; do echo taken > \(item); done 2>&-
            """
        )
        let report = try await stage.importArchive(hostile)
        #expect(report.totals.files == 2)
        #expect(report.appExtension?.findings == [])
    }
}
