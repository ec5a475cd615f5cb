import Foundation
import TestSupport
import Testing

/// Backups of iPhones read by `migrate`: listed, converted, and refused.
@Suite(.scratchDirectory) struct IPhoneBackupTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.write([UInt8]("secret\n".utf8), to: "password")
    }

    private static let generator = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../Fixtures/make_iphone_backup.py").standardized

    /// Makes a backup by the generator, which uses nothing of this project.
    private func make(_ form: String, _ words: String...) throws {
        let words = ["python3", Self.generator.path, form, place.path("backup")] + words
        let result = try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            program: "/usr/bin/env"
        ).wait()
        try #require(result.exitCode == 0, "\(result.errors)")
    }

    private func convert(_ words: String...) throws -> MigrateCommand.Result {
        let words = ["\"$migrate\" ios convert backup --app com.example.notes"] + words
        return try place.shell(words.joined(separator: " "))
    }

    @Test func `an app's data goes from an encrypted backup into a container`() throws {
        try place.makeContainer("phone")
        try make("encrypted", "tree=\(place.path("phone"))")
        let converted = try convert("--out notes --password-file password --json")
        #expect(converted.exitCode == 0, "\(converted.errors)")
        #expect(converted.errors == "migrate: deriving the key of the backup\n")
        let imported = try place.migrate(
            "import",
            place.path("notes"),
            "--container",
            place.path("new")
        )
        #expect(imported.exitCode == 0, "\(imported.errors)")
        let other = try convert("--container other --password-file password")
        #expect(other.exitCode == 0, "\(other.errors)")
        let difference = try place.shell(
            """
            rm -r phone/Library/Caches
            for name in new other; do
                rm -r $name/Library/Caches $name/tmp $name/SystemData
                diff -r --exclude=.migration phone $name || exit 1
            done
            """
        )
        #expect(difference.exitCode == 0, "\(difference.output)")
    }

    @Test func `lists what a backup holds, for people and for programs`() throws {
        try make("ios10.0")
        let apps = "\"$migrate\" ios apps backup --password-file password"
        let text = try place.shell(apps)
        #expect(text.exitCode == 0, "\(text.errors)")
        #expect(text.output.contains("com.example.notes: Notes, 4.2, 23 files, 312.4 kB\n"))
        let json = try place.migrate(
            "ios",
            "apps",
            place.path("backup"),
            "--password-file",
            place.path("password"),
            "--json"
        )
        #expect(json.output.contains(#""schema" : "migrate/ios-apps/1""#))
        #expect(!json.output.contains("PRIVATE"))
    }

    @Test func `a password that is missing or wrong is not damage`() throws {
        try make("encrypted")
        try place.write([UInt8]("other\n".utf8), to: "wrong")
        let missing = try convert("--out notes </dev/null")
        #expect(missing.exitCode == 77)
        #expect(missing.errors.contains("--password-file"))
        let wrong = try convert("--out notes --password-file wrong")
        #expect(wrong.exitCode == 77)
        #expect(wrong.errors.contains("has another password"))
        let none = try convert("--out notes --password-file none")
        #expect(none.exitCode == 64)
        let message = "the file of '--password-file' can't be read: none: No such file"
        #expect(none.errors.contains(message), "\(none.errors)")
        try place.write([UInt8](repeating: UInt8(ascii: "a"), count: 4097), to: "long")
        let long = try convert("--out notes --password-file long")
        #expect(long.exitCode == 64)
        #expect(long.errors.contains("long: it is larger than 4.1 kB"), "\(long.errors)")
        #expect(!place.exists("notes"))
    }

    @Test func `what is missing is named, and the rest comes out on request`() throws {
        try make("plain", "missing", "unfinished")
        #expect(try convert("--out notes").exitCode == 65)
        let refused = try convert("--out notes --allow-unfinished")
        #expect(refused.exitCode == 65)
        #expect(refused.output.contains("lost: Documents/missing (the backup doesn't hold"))
        #expect(refused.output.contains("nothing was written"))
        #expect(!place.exists("notes"))
        #expect(try convert("--container new --allow-unfinished").exitCode == 65)
        #expect(!place.exists("new"))
        let rest = try convert("--out notes --allow-unfinished --keep-going")
        #expect(rest.exitCode == 1)
        let verified = try place.shell("\"$migrate\" verify notes --external-links keep")
        #expect(verified.exitCode == 0, "\(verified.errors)")
    }

    @Test(arguments: ["inspect", "list", "import --container new"])
    func `other commands say what to type for a backup`(_ words: String) throws {
        try make("plain")
        let result = try place.shell("\"$migrate\" \(words) backup")
        #expect(result.exitCode == 65)
        #expect(result.errors.contains("'migrate ios convert'"), "\(result.errors)")
    }
}
