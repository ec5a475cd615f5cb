import AndroidMigration
import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// Backups that another program wrote, converted, and the files that an importer would get.
@Suite(.scratchDirectory) struct ConversionTests {
    private let place: BackupStage

    init() throws {
        place = try BackupStage()
    }

    private static let entries = [
        "MANIFEST:com.x", "apps/com.x/r/own=root", "apps/com.x/f/a=hello", "apps/com.x/f/dir/",
        "apps/com.x/f/dir/ü=umlaut", "apps/com.x/db/x.db=@70000", "apps/com.x/db/x.db-wal=wal",
        "apps/com.x/db/x.db-shm=shm", "apps/com.x/db/x.db-journal=j", "apps/com.x/sp/s.xml=<map/>",
        "apps/com.x/ef/photo=jpeg", "apps/com.x/d_r/r=1", "apps/com.x/d_f/f=2",
        "apps/com.x/d_db/d=3", "apps/com.x/d_sp/p.xml=4",
        "apps/com.x/f/" + String(repeating: "long/", count: 40) + "name=deep",
    ]

    private static let expected = [
        "app/databases/x.db": 70000, "app/databases/x.db-journal": 1, "app/databases/x.db-wal": 3,
        "app/files/a": 5, "app/files/dir/ü": 6,
        "app/files/" + String(repeating: "long/", count: 40) + "name": 4, "app/own": 4,
        "app/shared_prefs/s.xml": 6, "device/app/databases/d": 1, "device/app/files/f": 1,
        "device/app/r": 1, "device/app/shared_prefs/p.xml": 1, "external/files/photo": 4,
    ]

    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let words: [String]
        var password: String?

        init(_ description: String, _ words: [String], _ password: String? = nil) {
            testDescription = description
            self.words = words + (password.map { ["--password", $0] } ?? [])
            self.password = password
        }
    }

    static let forms: [Form] =
        (1...5).flatMap { version in
            let words = ["--form", "ab", "--version", "\(version)"]
            return [
                Form("version \(version), plain", words + ["--plain"]),
                Form("version \(version), deflated", words),
                Form("version \(version), encrypted", words, "secret"),
                Form("version \(version), encrypted, not deflated", words + ["--plain"], "secret"),
            ]
        }
        + ["utf8", "low"].flatMap { password in
            ["utf8", "low"].map { key in
                let words = [
                    "--form", "ab", "--password-encoding", password, "--key-encoding", key,
                ]
                return Form("password in \(password), key in \(key)", words, "pässwörd €")
            }
        } + [Form("a stream", []), Form("a stream without an end", ["--no-end"])]

    @Test(arguments: forms) func `gives an importer on iOS what iOS would`(_ form: Form)
        async throws
    {
        try place.make("backup", form.words + Self.entries)
        let report = try await place.convert("backup", password: form.password)
        #expect(report.header?.bundleIdentifier == "com.x")
        #expect(report.header?.platform == "android")
        #expect(report.header?.resourcesVersion == "3")
        #expect(report.lost.count == 0)
        #expect(try await place.files() == Self.expected)
        #expect(report.omitted.items.map(\.path) == ["app/databases/x.db-shm"])
    }

    @Test func `looks at no more of a backup once that is cancelled`() throws {
        try place.make("backup", Self.entries)
        try place.write("text", to: "tree/files/a")
        for name in ["backup", "tree"] {
            let operation = MigrationOperation()
            let source = try BackupSource.open(
                BackupLocation(.path(BytePath(place.url(name).path))),
                spoolDirectory: "/tmp",
                on: operation
            )
            _ = try DataTree(source, on: operation)
            operation.cancellation.cancel()
            #expect(throws: CancellationError.self) { try DataTree(source, on: operation) }
        }
    }

    @Test func `takes a pipe for a file`() async throws {
        try place.make("backup", ["--form", "ab"] + Self.entries)
        _ = try await place.convert("backup", throughPipe: true)
        #expect(try await place.files() == Self.expected)
        try place.make("stream", Self.entries)
        _ = try await place.convert("stream", throughPipe: true, force: true)
        #expect(try await place.files() == Self.expected)
    }

    @Test func `keeps the content, the modes and the times`() async throws {
        try place.make("backup", Self.entries)
        _ = try await place.convert("backup")
        let target = place.url("restored")
        _ = try await place.archive.extract(to: target)
        let file = target.appending(path: "app/files/a")
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_700_000_000)
        )
        let original = try place.python(
            """
            import random, sys
            sys.stdout.buffer.write(random.Random('apps/com.x/db/x.db').randbytes(70000))
            """
        )
        #expect(try Data(contentsOf: target.appending(path: "app/databases/x.db")) == original)
    }

    @Test func `takes entries of the directories above, which other programs write`() async throws {
        try place.make(
            "backup",
            ["apps/", "apps/com.x/", "apps/com.x/f/", "apps/com.x/f/a=1", "./apps/com.x/f/b=22"]
        )
        let report = try await place.convert("backup")
        #expect(try await place.files() == ["app/files/a": 1, "app/files/b": 2])
        #expect(report.omitted.count == 0)
    }

    @Test func `keeps Android's names where that is asked for`() async throws {
        try place.make("backup", Self.entries)
        _ = try await place.convert("backup") { $0.layout = .android }
        let files = try await place.files()
        #expect(files.count == Self.expected.count)
        #expect(files["apps/com.x/f/a"] == 5)
        #expect(files["apps/com.x/d_sp/p.xml"] == 1)
    }

    @Test func `converts a copy of the app's directory`() async throws {
        for (path, content) in [
            ("files/a", "12345"), ("databases/x.db", "1"), ("databases/x.db-wal", "1"),
            ("databases/x.db-shm", "1"), ("cache/c", "1"), ("_external/p", "12"),
            ("_device/files/d", "1"), ("lib/l.so", "1"),
        ] { try place.write(content, to: "tree/" + path) }
        try FileManager.default.createSymbolicLink(
            at: place.url("tree/files/link"),
            withDestinationURL: URL(filePath: "a")
        )
        let report = try await place.convert("tree") { $0.package = "com.x" }
        #expect(
            try await place.files() == [
                "app/files/a": 5, "app/databases/x.db": 1, "app/databases/x.db-wal": 1,
                "external/files/p": 2, "device/app/files/d": 1,
            ]
        )
        #expect(
            Set(report.omitted.items.map(\.path)) == [
                "app/cache", "app/lib", "app/databases/x.db-shm", "app/files/link",
            ]
        )
        let error = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("tree", force: true)
        }
        #expect(error?.remedy == .namePackage)
    }

    @Test func `converts a plain tar file, with the paths of a device too`() async throws {
        try place.make("a.tar", ["./files/a=1", "./cache/c=1", "files/b->a", "_external/p=12"])
        let report = try await place.convert("a.tar") { $0.package = "com.x" }
        #expect(try await place.files() == ["app/files/a": 1, "external/files/p": 2])
        #expect(Set(report.omitted.items.map(\.path)) == ["./cache/c", "files/b"])
        try place.make("b.tar", ["data/data/com.y/files/a=1", "data/user_de/0/com.y/files/d=1"])
        let other = try await place.convert("b.tar", force: true)
        #expect(other.package == "com.y")
        #expect(try await place.files() == ["app/files/a": 1, "device/app/files/d": 1])
    }

    @Test(arguments: ["gzip", "zstd"])
    func `converts a tar file that is compressed`(_ program: String) async throws {
        try place.make("plain", ["./files/a=1", "./files/b=@300000"])
        _ = try place.python(
            "import subprocess; subprocess.run(['\(program)', '-qf', '\(place.url("plain").path)'])"
        )
        let name = program == "gzip" ? "plain.gz" : "plain.zst"
        for isPipe in [false, true] {
            _ = try await place.convert(name, throughPipe: isPipe, force: true) {
                $0.package = "com.x"
            }
            #expect(try await place.files() == ["app/files/a": 1, "app/files/b": 300_000])
        }
        let bytes = try place.bytes(name)
        try place.write(Array(bytes.dropLast(200)), to: "short")
        let report = try await place.convert("short", force: true) { $0.package = "com.x" }
        #expect(report.lost.items.last?.path == "the rest of the backup")
    }

    @Test func `takes the package's directory off the top`() async throws {
        let files = [
            "files/a=1", "cache/c=1", "own=1", "databases/x.db-shm=1", "_external/p=12",
            "_device/files/d=1",
        ]
        for top in ["com.x/", "./com.x/"] {
            try place.make("a.tar", [top] + files.map { top + $0 })
            let report = try await place.convert("a.tar", force: true)
            #expect(report.package == "com.x")
            #expect(
                try await place.files() == [
                    "app/files/a": 1, "app/own": 1, "external/files/p": 2, "device/app/files/d": 1,
                ]
            )
        }
        try place.make("b.tar", files.map { "backup/" + $0 })
        try place.write("1", to: "tree/com.x/files/a")
        for name in ["b.tar", "tree"] {
            let error = await #expect(throws: AndroidMigrationError.self) {
                try await place.convert(name, force: true) { $0.package = "com.y" }
            }
            #expect(error?.code == .notABackup)
            #expect(error?.message.contains(name == "tree" ? "tree/com.x'" : "'backup/'") ?? false)
        }
        _ = try await place.convert("tree", force: true) { $0.package = "com.x" }
        #expect(try await place.files() == ["app/files/a": 1])
        // A file of the app itself can have this name.
        try place.make("c.tar", ["files/a=1", "com.x/files/b=1"])
        _ = try await place.convert("c.tar", force: true) { $0.package = "com.x" }
        #expect(try await place.files() == ["app/files/a": 1, "app/com.x/files/b": 1])
    }

    @Test func `takes what the rules hand over`() async throws {
        try place.make("backup", Self.entries)
        let rules = """
            <data-extraction-rules><cross-platform-transfer platform="ios">
            <platform-specific-params bundleId="com.example.app" teamId="ABCDE12345" contentVersion="9"/>
            <include domain="database" path="x.db"/><include domain="file" path="dir"/>
            </cross-platform-transfer></data-extraction-rules>
            """
        _ = try await place.convert("backup") { $0.rules = try RulesFile([UInt8](rules.utf8)) }
        #expect(
            try await place.files() == [
                "app/databases/x.db": 70000, "app/databases/x.db-journal": 1,
                "app/databases/x.db-wal": 3, "app/files/dir/ü": 6,
            ]
        )
        let error = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("backup", force: true) {
                $0.rules = try RulesFile([UInt8]("<data-extraction-rules/>".utf8))
            }
        }
        #expect(error?.code == .notEligible)
    }

    @Test func `checks which app on iOS the data is for`() async throws {
        try place.make("backup", Self.entries)
        let report = try await place.convert("backup") {
            $0.app = AppIdentity("ABCDE12345.com.example.app")
        }
        #expect(report.header?.resourcesVersion == "3")
        let error = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("backup", force: true) {
                $0.app = AppIdentity("ABCDE12345.com.example.other")
            }
        }
        #expect(error?.code == .appMismatch)
    }

    @Test func `says what a stream for Android can't hold`() async throws {
        let tar = try place.python(
            """
            import io, sys, tarfile
            tar = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")
            for path in ("app/files", "app/old", "app/tagged", "app/x", "device/app"):
                info = tarfile.TarInfo(path)
                info.size = 4
                if path == "app/old":
                    info.mtime = -5
                if path == "app/tagged":
                    info.pax_headers = {"SCHILY.xattr.user.note": "x"}
                tar.addfile(info, io.BytesIO(b"text"))
            tar.close()
            """
        )
        try place.write([UInt8](tar), to: "tar")
        let app = try #require(AppIdentity("ABCDE12345.com.x"))
        let report = try await BackupOperations.convert(
            .file(place.url("tar")),
            options: StreamConversion.Options(package: "com.x", app: app),
            to: .file(path: BytePath(place.url("stream").path), replacesExisting: false),
            spoolingTo: BytePath(place.url("").path)
        )
        #expect(report.totals.files == 3)
        #expect(
            report.omitted.items.map { "\($0.path): \($0.reason)" } == [
                "app/files: Android has a directory there",
                "app/old: its time, which is before 1970; it becomes 1970-01-01",
                "app/tagged: its extended attributes",
                "device/app: Android has a directory there",
            ]
        )
        _ = try await place.convert("stream")
        #expect(try await place.files() == ["app/old": 4, "app/tagged": 4, "app/x": 4])
    }

    @Test func `asks which of several packages is meant`() async throws {
        try place.make("backup", ["apps/com.x/f/a=1", "apps/com.y/f/b=22", "shared/0/p=1"])
        let error = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("backup")
        }
        #expect(error?.code == .severalPackages)
        #expect(error?.message.hasSuffix("com.x, com.y") ?? false)
        try place.make("unnamed", ["apps/com.x/f/a=1", "files/b=22"])
        let unnamed = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("unnamed")
        }
        #expect(unnamed?.message.hasSuffix("one without a name, com.x") ?? false)
        _ = try await place.convert("backup") { $0.package = "com.y" }
        #expect(try await place.files() == ["app/files/b": 2])
        let other = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("backup", force: true) { $0.package = "com.z" }
        }
        #expect(other?.code == .packageNotFound)
    }
}
