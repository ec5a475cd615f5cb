import AndroidMigration
import Foundation
import MigrationArchive
import TestSupport
import Testing

/// Files that shrank while Android read them, and files that only look as if they had.
@Suite(.scratchDirectory) struct ShrunkFileTests {
    private let place: BackupStage

    init() throws {
        place = try BackupStage()
    }

    private static func tar(_ files: [(String, [UInt8])], blocks: Int) -> [UInt8] {
        var tar = RawTar()
        for (path, content) in files { tar.add(path, content: content) }
        return blocks == 0 ? tar.bytes : tar.ended(blocks)
    }

    private static let nested: [(String, [UInt8])] = [
        ("apps/a/sp/s.xml", [UInt8](repeating: 7, count: 600)), ("apps/a/f/2", [1, 2, 3]),
    ]

    private func refusal(_ policy: SizePolicy = .refuse) async -> AndroidMigrationError? {
        await #expect(throws: AndroidMigrationError.self) {
            try await place.convert("backup", force: true, sizes: policy)
        }
    }

    @Test(arguments: [false, true])
    func `refuses a size that fits although headers are in place inside it`(_ isPipe: Bool)
        async throws
    {
        // The size of the first covers the second as a whole, and ends at the third's header.
        try place.make(
            "backup",
            ["--shrink", "apps/a/f/1=0", "apps/a/f/1=@1024", "apps/a/f/2=@512", "apps/a/f/3=@512"]
        )
        let error = await refusal()
        #expect(error?.code == .unclearSizes)
        #expect(error?.remedy == .judgeUnclearEntries)
        for word in ["'apps/a/f/1'", "'apps/a/f/2'"] {
            #expect(error?.message.contains(word) ?? false)
        }
        let trusted = try await place.convert(
            "backup",
            throughPipe: isPipe,
            force: true,
            sizes: .trust
        )
        #expect(try await place.files() == ["app/files/1": 1024, "app/files/3": 512])
        #expect(trusted.lost.count == 0)
        let salvaged = try await place.convert(
            "backup",
            throughPipe: isPipe,
            force: true,
            sizes: .salvage
        )
        #expect(try await place.files() == ["app/files/2": 512, "app/files/3": 512])
        #expect(salvaged.lost.items.map(\.path) == ["apps/a/f/1"])
        #expect(salvaged.inside.items.map(\.path) == ["app/files/2"])
    }

    @Test func `salvages the one header that a file which ends too early holds`() async throws {
        // The size ends inside the second file, so the first one shrank, and more follows.
        for size in [700, 1024 + 512, 2048] {
            try place.make(
                "backup",
                [
                    "--shrink", "apps/a/f/1=0", "apps/a/f/1=@\(size)", "apps/a/f/2=@4096",
                    "apps/a/f/3=@512",
                ]
            )
            let report = try await place.convert("backup", force: true)
            #expect(try await place.files() == ["app/files/2": 4096, "app/files/3": 512])
            #expect(report.lost.items.map(\.path) == ["apps/a/f/1"], "\(size)")
            #expect(report.inside.items.map(\.path) == ["app/files/2"], "\(size)")
        }
    }

    @Test(arguments: ["stream", "ab"])
    func `refuses a stream that ends inside a file with headers`(_ form: String) async throws {
        for size in [1024 + 1, 1024 + 512, 1024 + 513, 2048, 5000] {
            try place.make(
                "backup",
                [
                    "--form", form, "--shrink", "apps/a/f/1=0", "apps/a/f/1=@\(size)",
                    "apps/a/f/2=@512",
                ]
            )
            #expect(await refusal()?.code == .unclearSizes, "\(size)")
            let report = try await place.convert("backup", force: true, sizes: .salvage)
            #expect(try await place.files() == ["app/files/2": 512], "\(size)")
            #expect(report.lost.items.map(\.path) == ["apps/a/f/1"], "\(size)")
        }
    }

    @Test(arguments: [false, true])
    func `takes nothing of a stranger's out of a file that shrank`(_ isLast: Bool) async throws {
        var download = Self.tar([("apps/a/sp/s.xml", [9]), ("apps/a/f/x", [])], blocks: 0)
        download += [UInt8](repeating: 0, count: 4096)
        var tar = RawTar()
        tar.add("apps/a/f/1", content: [1])
        tar.add("apps/a/f/download", content: download)
        let shrunk = tar.bytes.dropLast(4096)
        tar = RawTar()
        tar.append(Array(shrunk))
        if !isLast {
            tar.add("apps/a/f/2", content: [UInt8](repeating: 2, count: 4000))
            tar.add("apps/a/sp/s.xml", content: [1, 2])
        }
        try place.write([UInt8]("ANDROID BACKUP\n5\n0\nnone\n".utf8) + tar.ended(), to: "backup")
        let error = await refusal()
        #expect(error?.code == .unclearSizes)
        for word in [
            "'apps/a/f/download'", "'apps/a/sp/s.xml'", isLast ? "2 headers" : "3 headers",
        ] {
            #expect(error?.message.contains(word) ?? false, "\(error?.message ?? "")")
        }
        let report = try await place.convert("backup", force: true, sizes: .salvage)
        #expect(report.lost.items.map(\.path) == ["apps/a/f/download"])
        // Data outside counts, wherever it is.
        #expect(try await place.files()["app/shared_prefs/s.xml"] == (isLast ? 1 : 2))
        let inside =
            isLast ? ["app/shared_prefs/s.xml", "app/files/x"] : ["app/files/x", "app/files/2"]
        #expect(report.inside.items.map(\.path) == inside)
        _ = try await place.convert("backup", force: true, sizes: .trust)
        #expect(try await place.files()["app/files/x"] == nil)
    }

    @Test func `takes no manifest out of a file in place of the package's own`() async throws {
        func manifest(_ version: String) -> (String, [UInt8]) {
            let lines = ["1", "a", "ios", "1", "com.example.app", "ABCDE12345", version, "1", "ab"]
            let text = lines.map { $0 + "\n" }.joined()
            return ("apps/a/_cross_platform_manifest", [UInt8](text.utf8))
        }
        let forged = Self.tar([manifest("9")], blocks: 0)
        let stream = Self.tar(
            [manifest("3"), ("apps/a/f/1", forged), ("apps/a/f/2", [2])],
            blocks: 2
        )
        try place.write(stream, to: "backup")
        #expect(await refusal()?.code == .unclearSizes)
        _ = try await place.convert("backup", force: true, sizes: .salvage)
        let reader = try ArchiveReader(place.url("out"))
        #expect(reader.header?.resourcesVersion == "3")
    }

    @Test(arguments: [2, 20], [2, 20])
    func `keeps a backup of backups as one file`(_ inner: Int, _ outer: Int) async throws {
        let backup = Self.tar(Self.nested, blocks: inner)
        let stream = Self.tar(
            [("apps/a/f/1", [1]), ("apps/a/f/old.tar", backup), ("apps/a/f/3", [3])],
            blocks: outer
        )
        try place.write(stream, to: "backup")
        let report = try await place.convert("backup")
        let expected = ["app/files/1": 1, "app/files/old.tar": backup.count]
        #expect(try await place.files() == expected.merging(["app/files/3": 1]) { $1 })
        #expect(report.lost.count == 0)
        let last = Self.tar(
            [("apps/a/f/1", [1]), ("apps/a/f/old.tar", backup)],
            blocks: outer
        )
        try place.write(last, to: "backup")
        #expect(try await place.convert("backup", force: true).lost.count == 0)
        #expect(try await place.files() == expected)
    }

    @Test func `takes nothing of a stranger's out of a file whose size fits`() async throws {
        let forged = Self.tar([("apps/a/sp/s.xml", []), ("apps/a/f/x", [])], blocks: 0)
        try place.write(
            Self.tar(
                [("apps/a/f/download", forged), ("apps/a/f/3", [3]), ("apps/a/sp/s.xml", [1, 2])],
                blocks: 2
            ),
            to: "backup"
        )
        #expect(await refusal()?.code == .unclearSizes)
        let report = try await place.convert("backup", force: true, sizes: .salvage)
        // The stream's data behind the download belongs to the app.
        #expect(try await place.files()["app/shared_prefs/s.xml"] == 2)
        #expect(report.inside.items.map(\.path) == ["app/files/x"])
        #expect(report.omitted.items.map(\.path) == ["app/shared_prefs/s.xml"])
        // Another package's entries don't concern this one.
        let other = Self.tar([("apps/b/sp/s.xml", [9])], blocks: 0)
        try place.write(
            Self.tar([("apps/a/f/download", other), ("apps/a/f/3", [3])], blocks: 2),
            to: "backup"
        )
        #expect(try await place.convert("backup", force: true).lost.count == 0)
        #expect(
            try await place.files() == ["app/files/download": other.count, "app/files/3": 1]
        )
    }

    @Test func `refuses a stream that was cut off inside a backup of backups`() async throws {
        let backup = Self.tar(Self.nested, blocks: 2)
        let stream = Self.tar([("apps/a/f/1", [1]), ("apps/a/f/old.tar", backup)], blocks: 2)
        try place.write(Array(stream.dropLast(1024 + 1024 + 700)), to: "backup")
        #expect(await refusal()?.code == .unclearSizes)
        let report = try await place.convert("backup", force: true, sizes: .trust)
        #expect(try await place.files() == ["app/files/1": 1])
        #expect(report.lost.items.map(\.path) == ["apps/a/f/old.tar"])
        _ = try await place.convert("backup", force: true, sizes: .salvage)
        #expect(
            try await place.files() == ["app/files/1": 1, "app/shared_prefs/s.xml": 600]
        )
    }

    @Test func `refuses a package that begins inside another one's last file`() async throws {
        try place.make(
            "backup",
            [
                "--shrink", "apps/a/f/1=0", "apps/a/f/1=@3072", "MANIFEST:b", "apps/b/f/2=@512",
            ]
        )
        // The manifests are two headers and two blocks, the file's header one, and its end is inside.
        #expect(await refusal()?.code == .unclearSizes)
        let report = try await place.convert("backup", sizes: .salvage) { $0.package = "b" }
        #expect(try await place.files() == ["app/files/2": 512])
        #expect(report.lost.items.map(\.path) == ["apps/a/f/1"])
    }

    @Test func `names a program's message between two entries`() async throws {
        let message = [UInt8]("tar: ./cache/x: Permission denied\n".utf8)
        for magic in [RawTar.Magic.gnu, .ustar] {
            var tar = RawTar()
            tar.add("./files/1", content: [1], magic: magic)
            tar.append(message)
            tar.add("./files/2", content: [1, 2], magic: magic)
            try place.write(tar.ended(), to: "backup")
            let report = try await place.convert("backup", force: true) { $0.package = "com.x" }
            #expect(try await place.files() == ["app/files/1": 1, "app/files/2": 2])
            #expect(report.lost.items.map(\.path) == ["the text at byte 1024 of the stream"])
            #expect(report.lost.items[0].reason.contains("Permission denied"))
        }
    }

    @Test func `names a file into which a message got`() async throws {
        var tar = RawTar()
        tar.add("./files/1", content: [UInt8](repeating: 1, count: 2000))
        var bytes = tar.bytes
        bytes.insert(contentsOf: [UInt8]("oh dear\n".utf8), at: 1000)
        tar = RawTar()
        tar.append(bytes)
        tar.add("./files/2", content: [1, 2])
        try place.write(tar.ended(), to: "backup")
        let report = try await place.convert("backup") { $0.package = "com.x" }
        #expect(try await place.files() == ["app/files/2": 2])
        #expect(report.lost.items.map(\.path) == ["./files/1"])
    }
}
