import AndroidMigration
import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

/// Backups that are empty, damaged, cut off, locked, foreign or hostile.
@Suite(.scratchDirectory) struct BadBackupTests {
    private let place: BackupStage

    init() throws {
        place = try BackupStage()
    }

    private func failure(
        _ name: String = "backup",
        password: String? = nil
    ) async -> AndroidMigrationError? {
        let error = await #expect(throws: AndroidMigrationError.self) {
            try await place.convert(name, password: password)
        }
        #expect(!FileManager.default.fileExists(atPath: place.url("out").path))
        return error
    }

    @Test(arguments: [[], ["--plain"]])
    func `says that nothing was backed up`(_ words: [String]) async throws {
        try place.make("backup", ["--form", "ab"] + words)
        let error = await failure()
        #expect(error?.code == .nothingBackedUp)
        #expect(error?.message.contains("not eligible, or not debuggable") ?? false)
        try place.make("locked", ["--form", "ab", "--password", "p"] + words)
        #expect(await failure("locked", password: "p")?.code == .nothingBackedUp)
        try place.make("manifest", ["MANIFEST:com.x"])
        #expect(await failure("manifest")?.message.contains("'com.x'") ?? false)
        try place.make("stream", [])
        #expect(await failure("stream")?.code == .nothingBackedUp)
    }

    @Test func `names a path that can't be used if that is all there is`() async throws {
        try place.make("backup", ["apps/com.x/f/../../../etc/x=1"])
        let error = await failure()
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("'..' component") ?? false, "\(error?.message ?? "")")
    }

    @Test func `takes the 47 bytes of a device's empty backup for one`() async throws {
        let start = [UInt8]("ANDROID BACKUP\n5\n1\nnone\n".utf8)
        let body = try place.python(
            """
            import sys, zlib
            compressor = zlib.compressobj(9)
            sys.stdout.buffer.write(compressor.compress(bytes(1024)) + compressor.flush(zlib.Z_SYNC_FLUSH))
            """
        )
        try place.write(start + [UInt8](body), to: "backup")
        #expect(await failure()?.code == .nothingBackedUp)
    }

    @Test func `keeps a wrong password, damage and what is unsupported apart`() async throws {
        try place.make("backup", ["--form", "ab", "--password", "right", "apps/a/f/x=1"])
        #expect(await failure()?.code == .passwordNeeded)
        #expect(await failure(password: "wrong")?.code == .wrongPassword)
        let text = try place.bytes("backup")
        for (old, new, code) in [
            ("AES-256", "AES-512", AndroidMigrationError.Code.unsupported),
            ("BACKUP\n5", "BACKUP\n6", .unsupported), ("BACKUP\n5", "BACKUP\nx", .damaged),
            ("\n1000\n", "\nnone\n", .damaged), ("\n1000\n", "\n99999999999\n", .unsupported),
        ] {
            try place.write(text.replacing([UInt8](old.utf8), with: [UInt8](new.utf8)), to: "other")
            #expect(await failure("other", password: "right")?.code == code, "\(new)")
        }
        for count in [16, 60, 400] {
            try place.write(Array(text.prefix(count)), to: "short")
            #expect(await failure("short", password: "right")?.code == .damaged, "\(count)")
        }
    }

    @Test func `refuses other programs' backups by name, and what is none`() async throws {
        let hash = String(repeating: "0a", count: 32)
        for (name, content, hint) in [
            ("a", "TWRP" + String(repeating: "\0", count: 600), "TWRP"),
            (
                "b.bak", "MIUI BACKUP\n2\ncom.x X\n-1\n0\nANDROID BACKUP\n5\n0\nnone\n",
                "MIUI"
            ),
            ("c.ab", "ANDROID BACKUP\r\n5\r\n0\r\nnone\r\n", "adb exec-out"),
            ("01/\(hash)", "\u{2}1234", "Seedvault"), ("com.x.dat", "PK\u{3}\u{4}", "Swift Backup"),
            ("data.tar.gz.enc", "1234", "Neo Backup"), ("other", "PK\u{3}\u{4}", "a zip file"),
            ("other", "nothing at all", "neither"), ("other", "", "empty"),
        ] {
            try place.write([UInt8](content.utf8), to: name)
            let error = await failure(name)
            #expect(error?.message.contains(hint) ?? false, "\(name): \(error?.message ?? "")")
            #expect((error?.remedy == .skipStart(27)) == (name == "b.bak"))
        }
    }

    @Test func `says which entries no app on iOS receives, if there are no others`() async throws {
        try place.make("backup", ["MANIFEST:com.x", "apps/com.x/db/x.db-shm=1"])
        let error = await failure()
        #expect(error?.code == .nothingToConvert)
        #expect(error?.message.contains("'app/databases/x.db-shm': SQLite makes it anew") ?? false)
        try place.make("other", ["MANIFEST:com.x", "apps/com.x/c/x=1"])
        #expect(await failure("other")?.message.contains("a cache") ?? false)
    }

    private static let three = ["apps/a/f/1=@3000", "apps/a/f/2=@3000", "apps/a/f/3=@3000"]

    @Test(arguments: [0, 1, 511, 512, 1024, 2999, 2560])
    func `salvages what follows an entry that is too short`(_ kept: Int) async throws {
        try place.make("backup", ["--shrink", "apps/a/f/2=\(kept)"] + Self.three)
        let report = try await place.convert("backup")
        // A file cut in the padding of its last block looks whole.
        let isWhole = kept > 2560
        #expect(
            try await place.files().keys.sorted()
                == (isWhole
                    ? ["app/files/1", "app/files/2", "app/files/3"]
                    : ["app/files/1", "app/files/3"])
        )
        #expect(report.lost.items.map(\.path) == (isWhole ? [] : ["apps/a/f/2"]))
        #expect(isWhole || report.lost.items[0].reason.contains("of 3000 bytes"))
    }

    @Test func `names the entry in which a stream ends`() async throws {
        try place.make("whole", ["--no-end"] + Self.three)
        let bytes = try place.bytes("whole")
        try place.write(Array(bytes.prefix(bytes.count - 2000)), to: "backup")
        let report = try await place.convert("backup")
        #expect(report.lost.items.map(\.path) == ["apps/a/f/3"])
        #expect(report.lost.items[0].reason.contains("the backup ends behind"))
        try place.write(Array(bytes.prefix(bytes.count - 3072 - 200)), to: "header")
        let other = try await place.convert("header", force: true)
        #expect(other.lost.items.map(\.path) == ["the last entry"])
    }

    @Test func `salvages what comes before damaged compression`() async throws {
        try place.make("whole", ["--form", "ab"] + Self.three)
        let bytes = try place.bytes("whole")
        try place.write(Array(bytes.prefix(bytes.count - 4000)), to: "backup")
        let report = try await place.convert("backup")
        #expect(try await place.files()["app/files/1"] == 3000)
        #expect(report.lost.items.last?.path == "the rest of the backup")
        #expect(report.lost.items.last?.reason.contains("ends early") ?? false)
    }

    @Test func `goes on behind a damaged header`() async throws {
        try place.make("backup", Self.three)
        var bytes = try place.bytes("backup")
        let header = 512 + 3072
        for index in header..<header + 512 { bytes[index] = 0xAA }
        try place.write(bytes, to: "backup")
        let report = try await place.convert("backup")
        #expect(try await place.files().keys.sorted() == ["app/files/1", "app/files/3"])
        #expect(report.lost.items.map(\.path) == ["what lies at byte \(header) of the stream"])
    }

    @Test func `leaves out what must not be taken, and says why`() async throws {
        try place.make(
            "backup",
            [
                "apps/a/f/good=1", "apps/a/f/../../../escape=1", "apps/a/f//double=1",
                "apps/a/f/link->/etc/passwd", "apps/a/f/good=22", "apps/a/f/good/below=1",
                "apps/a/zz/unknown=1", "apps/a/k/key=1", "apps/a/c/cache=1", "apps/a/a/base.apk=1",
                "apps/a/_meta=1",
            ]
        )
        let report = try await place.convert("backup")
        #expect(try await place.files() == ["app/files/good": 1])
        let reasons = Dictionary(
            (report.omitted.items + report.lost.items).map { ($0.path, $0.reason) },
            uniquingKeysWith: { $1 }
        )
        #expect(reasons["apps/a/f/../../../escape"] == "the path has a '..' component")
        #expect(reasons["apps/a/f//double"] == "the path has an empty component")
        #expect(reasons["apps/a/f/link"] == "a symbolic link")
        #expect(reasons["app/files/good"] == "its path comes twice in the backup")
        #expect(reasons["app/files/good/below"] == "it lies in what is a file in the backup")
        #expect(reasons["apps/a/zz/unknown"] == "a domain that is not known")
        #expect(report.omitted.count == 6)
        // Data that an app on iOS could have received is lost, so the command ends with 1.
        #expect(report.lost.count == 4)
    }

    @Test func `unpacks a bomb into no room`() async throws {
        try place.write(
            [UInt8](
                try place.python(
                    """
                    import sys, tarfile, zlib
                    info = tarfile.TarInfo("apps/a/f/zeros")
                    info.size = 12 << 20
                    out = sys.stdout.buffer
                    out.write(b"ANDROID BACKUP\\n5\\n1\\nnone\\n")
                    compressor = zlib.compressobj(9)
                    out.write(compressor.compress(info.tobuf(tarfile.USTAR_FORMAT)))
                    for _ in range(12): out.write(compressor.compress(bytes(1 << 20)))
                    out.write(compressor.compress(bytes(1024)) + compressor.flush())
                    """
                )
            ),
            to: "backup"
        )
        let report = try await place.convert("backup")
        #expect(report.totals.contentBytes == 12 << 20)
        #expect(report.bytes < 1 << 20)
    }

    /// Each directory of a deep path is an item with a path of its own.
    @Test(arguments: [(2, false), (20, true)])
    func `keeps no more paths than a preview can hold`(
        _ count: Int,
        _ isRefused: Bool
    ) async throws {
        let below = String(repeating: "a/", count: 2000) + "a=1"
        try place.make("backup", (0..<count).map { "apps/com.x/f/\($0)/\(below)" })
        let backup = BackupLocation(.path(BytePath(place.url("backup").path)))
        let spool = BytePath(place.url("").path)
        let tree = { try await BackupOperations.tree(backup, package: nil, spoolingTo: spool) }
        if isRefused {
            let error = await #expect(throws: AndroidMigrationError.self) { try await tree() }
            #expect(error?.code == .unsupported)
        } else {
            _ = try await tree()
        }
    }
}
