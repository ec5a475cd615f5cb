import Foundation
import MigrationHosting

/// An extension as guides write it, and its app's files on the old and on the new device.
struct Pattern: Sendable, CustomStringConvertible {
    /// The name of the program.
    let program: String

    /// Files on the old device, by their paths; those in `group/` are the app group's.
    let files: [String: Data]

    /// All files on the new device.
    let imported: [String: Data]

    /// The options of the export, by name.
    var options: [String: Data] = [:]

    /// The findings of the export and of the import.
    var findings: (exported: [ExtensionFinding.Code], imported: [ExtensionFinding.Code]) = ([], [])

    var description: String { program }

    /// An app's files, all of different sizes.
    private static func files(_ paths: [String]) -> [String: Data] {
        var files: [String: Data] = [:]
        for (index, path) in paths.enumerated() {
            files[path] = Data((0..<(index * 5000 + 17)).map { UInt8(($0 * 7 + index) % 251) })
        }
        return files
    }

    private init(_ program: String, _ files: [String: Data], imported: [String: Data]? = nil) {
        self.program = program
        self.files = files
        self.imported = imported ?? files
    }

    static let all: [Pattern] = [
        Pattern(
            "CombinedMigration",
            files([
                "Documents/profile.json", "Documents/media/a.jpg", "Documents/media/deep/b.jpg",
                "Library/Application Support/state.db",
            ])
        ),
        Pattern(
            "VersionedMigration",
            files(["Documents/entries/1.txt", "Documents/entries/2.txt"])
        ),
        Pattern(
            "VersionedMigration",
            ["Documents/entries.txt": Data("one\ntwo\n".utf8)],
            imported: [
                "Documents/entries/entry-0.txt": Data("one".utf8),
                "Documents/entries/entry-1.txt": Data("two".utf8),
            ]
        ),
        Pattern(
            "EnumeratingMigration",
            files(["Documents/data.bin", "Documents/a/one.bin", "Documents/a/b/two.bin"])
        ),
        Pattern("SelectiveMigration", files(["Documents/letters/1", "Documents/drafts/2"])),
        selected,
        Pattern(
            "DefensiveMigration",
            files(["Documents/data.bin", "Documents/a/one.bin", "Documents/a/b/two.bin"])
        ),
        Pattern(
            "PlatformMigration",
            files(["Documents/catalog.json", "Library/Preferences/settings.json"])
        ),
        Pattern("GroupMigration", files(["group/shared.json", "group/widget.json"])), documented,
    ]

    private static var documented: Pattern {
        var pattern = Pattern(
            "DocumentedMigration",
            files(["Documents/photos/one.jpg", "Documents/photos/two.jpg"])
        )
        pattern.findings = ([.pathShortened], [.progressNotKept])
        return pattern
    }

    private static var selected: Pattern {
        let files = files(["Documents/letters/1", "Documents/drafts/2"])
        var pattern = Pattern(
            "SelectiveMigration",
            files,
            imported: files.filter { $0.key == "Documents/letters/1" }
        )
        pattern.options = ["withoutDrafts": Data()]
        // An estimate can't see the options.
        pattern.findings.exported = [.estimateOff]
        return pattern
    }
}
