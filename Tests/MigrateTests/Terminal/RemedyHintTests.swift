import MigrationArchive
import MigrationCore
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
        .chooseImporter,
        .givePassword, .judgeUnclearEnd, .judgeUnclearEntries, .nameNoFurtherPlaces,
    ]

    private static let flags = Set(
        CommandCatalog.tree.commands.flatMap(\.flags).map { "--\($0.name)" }
    )

    @Test(arguments: remedies)
    func `names flags and commands that exist`(_ remedy: Remedy) throws {
        let hint = try #require(ErrorMessage.Hint(remedy))
        let words = hint.advice.split { " '|".contains($0) }.map(String.init)
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
}
