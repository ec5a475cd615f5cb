import Foundation
import MigrationArchive
import MigrationHosting
import MigrationReports
import MigrationSystem
import Testing

@testable import migrate

/// The table of hints against the flags and commands that exist.
@Suite struct RemedyHintTests {
    private static let remedies: [Remedy] = [
        .discardImport, .finishImport, .takeAnyDirectory, .changeApp, .takeForApp("a.b"),
        .replaceForApp("a.b"), .nameOtherApp, .allowIncomplete, .exportBundle, .keepExternalLinks,
        .restoreNoExtraMetadata, .restoreOwnersAsRoot, .archiveMetadata(.owners),
        .archiveMetadata(.accessLists), .archiveMetadata(.attributes), .decompress(by: "xz -dc"),
        .makeTarFile, .nameArchive, .nameSource, .appendLeftBehind, .changeGrant,
        .allowLongerSilence,
        .allowMoreTemporarySpace, .allowMoreMemory, .convertAndroidBackup, .convertIPhoneBackup,
        .convertToAndroid, .namePackage, .choosePackage, .giveRules, .giveRulesOrDropImporter,
        .chooseImporter, .holdMetadata(.owners), .holdMetadata(.attributes), .limitMemory,
        .restoreOwners,
        .mapGroups(["g", "h"]), .nameContainerApp, .runReceiver, .dropOrRename("a", to: nil),
        .dropOrRename("a.b", to: "a.c"), .correctRename("a", to: "b"), .skipStart(7),
        .previewBackup, .givePassword, .judgeUnclearEnd, .judgeUnclearEntries, .nameNoFurtherPlaces,
    ]

    private static let flags = Set(
        CommandCatalog.tree.commands.flatMap(\.flags).map { "--\($0.name)" }
    )

    private static let steps: [NextStep] = [
        .listAll, .nameApp, .goBack, .moveData(from: "a", into: "b"), .showNotes,
        .chooseGroup, .keepGoing,
    ]

    @Test(arguments: steps)
    func `words what can be done next by flags and commands that exist`(_ step: NextStep) throws {
        check(ErrorMessage.Hint(flag: nil, advice: ErrorMessage.Hint.step(step)))
    }

    @Test(arguments: remedies)
    func `names flags and commands that exist`(_ remedy: Remedy) throws {
        check(try #require(ErrorMessage.Hint(remedy)))
    }

    private func check(_ hint: ErrorMessage.Hint) {
        let words = hint.advice.split { " '|()=".contains($0) }.map(String.init)
        let named = words.filter { $0.hasPrefix("--") && !$0.hasPrefix("--long") }
        for flag in named { #expect(Self.flags.contains(flag), "\(hint.advice)") }
        if let flag = hint.flag { #expect(named.contains(flag), "\(hint.advice)") }
        #expect(!named.isEmpty || words.contains("migrate"), "\(hint.advice)")
    }

    @Test func `adds the hint of an error or of its cause to the message`() {
        let inner = ArchiveError(.truncated, "it is cut short", remedy: .allowIncomplete)
        let outer = MigrationError(.outputFailed, "the import failed", cause: inner)
        let text =
            "the import failed: it is cut short; use --allow-incomplete to replace data with it"
        #expect(ErrorMessage(outer).description == text)
        #expect(!outer.description.contains("--"))
    }

    /// The line in which two hosts greet each other, the flags of a program that a plan makes, and what an
    /// extension's own program says that a person starts.
    private static let exceptions = [
        "\"migrate receive 1\\n\"", "\"--store\"", "--store <path>", "\"--dry-run\"",
        "'migrate export --extension \\(path)'",
    ]

    @Test func `libraries name no flag and no command`() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        // A flag of `migrate`, or one of its commands, in a line of Swift that isn't a comment.
        let flag = /--([a-z][a-z-]+)/
        let command = /\bmigrate ([a-z]+)/
        let commands = Set(CommandCatalog.tree.commands.map { $0.name.prefix { $0 != " " } })
        var count = 0
        for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
        where file.hasSuffix(".swift") && !file.hasPrefix("migrate/") {
            count += 1
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            var isInText = false
            for line in text.split(separator: "\n") {
                if line.matches(of: /"""/).count == 1 { isInText.toggle() }
                let isComment = line.drop { $0 == " " }.hasPrefix("//")
                guard isInText || line.contains("\"") && !isComment,
                    !Self.exceptions.contains(where: line.contains)
                else { continue }
                let named = line.matches(of: flag).map { String($0.0) }.filter(Self.flags.contains)
                #expect(named.isEmpty, "\(file): \(line)")
                let told = line.matches(of: command).map(\.1).filter(commands.contains)
                #expect(told.isEmpty, "\(file): \(line)")
            }
        }
        #expect(count > 300)
    }
}
