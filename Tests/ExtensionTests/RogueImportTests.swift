import Foundation
import MigrationHosting
import TestSupport
import Testing

/// How a host treats an import by a process that works against it.
@Suite(.scratchDirectory)
struct RogueImportTests {
    private let stage: Stage

    init() throws {
        stage = try Stage()
    }

    /// The path of a name in the staging directory, in the shell's notation.
    private func staged(_ name: String) -> String {
        let path = stage.root / ".destination.migration-staging"
        return "'\(String(decoding: path.bytes, as: UTF8.self))'\(name)"
    }

    @Test func `starts no import before the archive is proved whole`() async throws {
        try await stage.makeArchive("", files: ["a": "a"])
        let item = staged("/import/a")
        // It reports success if it finds the archive's item, and otherwise puts a file in its
        // place.
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

    @Test func `keeps nothing of what is done while the extension is only asked`() async throws {
        try await stage.makeArchive("", files: ["a": "a"])
        let hostile = try stage.shell(
            """
            if [ -e \(staged("/import/a")) ]; then
                stat -c %a \(staged("/container")) > \(staged("/container/Documents/mode"))
                ls -A \(staged("/container")) > \(staged("/container/Documents/names"))
                \(ShellMessage.describingImport())
                \(ShellMessage.finishingImport)
            else
                mkdir \(staged("/own")) \(staged("/container/own"))
                chmod 0 \(staged("/container")) \(staged(""))
                \(ShellMessage.describingImport())
            fi
            sleep 60
            """
        )
        try await stage.importArchive(hostile)
        #expect(try stage.importedText("Documents/mode") == "700\n")
        #expect(try stage.importedText("Documents/names") == "Documents\nLibrary\ntmp\n")
    }

    @Test func `shows no endless version beforehand`() async throws {
        try await stage.makeArchive("")
        let version = String(repeating: "v", count: 900_000)
        let exports =
            #"{"sizeEstimate":0,"resourcesVersion":"\#(version)","isCompressible":true,"options":[]}"#
        let json = #"{"version":4,"name":"X","imports":true,"exports":\#(exports)}"#
        var rogue = try stage.shell("\(ShellMessage.sending(json, as: "!"))\nexit 3")
        let versions = Lines()
        rogue.preflightHandler = { versions.append($0.exports?.resourcesVersion ?? "") }
        let hosted = rogue
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(hosted)
        }
        #expect(error?.code == .extensionCrashed)
        #expect(versions.all.map(\.utf8.count).allSatisfy { $0 < 20_000 })
        #expect(versions.all.count == 1)
    }

    @Test(arguments: [
        [(5_000_000_000, 5_000_000_000), (0, 7)],
        [
            (1_000_000, 1_000_000), (0, 999_983), (999_983, 999_983), (0, 99_991),
            (99_991, 99_991), (0, 7),
        ],
        [(1 << 53, -1), (7, 1 << 53), (1 << 53, 7), (-1, 0), (3, -1)],
    ])
    func `shows progress in whatever numbers it comes`(_ counts: [(Int64, Int64)]) async throws {
        try await stage.makeArchive("")
        let messages = counts.map { completed, total in
            let fraction = total > 0 ? min(max(Double(completed) / Double(total), 0), 1) : 0
            return ShellMessage.sending(
                #"{"completed":\#(completed),"total":\#(total),"fraction":\#(fraction)}"#,
                as: "#"
            )
        }
        let hostile = try stage.shell(
            """
            \(ShellMessage.describingImport())
            if [ -e \(staged("/import/script")) ]; then
                \(messages.joined(separator: "\n"))
                \(ShellMessage.finishingImport)
            fi
            sleep 60
            """
        )
        let progress = Progress(totalUnitCount: 100)
        try await stage.importArchive(hostile, progress: progress)
        #expect((0...1).contains(progress.fractionCompleted))
    }
}
