import Foundation
import TestSupport
import Testing

/// Android backups that `migrate` converts, inspects and refuses.
@Suite(.scratchDirectory) struct AndroidBackupTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    private static let generator = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../AndroidMigrationTests/Fixtures/make-backup.py").standardized

    /// Writes a backup by `make-backup.py`, which uses nothing of this project.
    private func make(_ name: String = "backup", _ words: [String]) throws {
        let words = ["python3", Self.generator.path, place.path(name)] + words
        let result = try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            program: "/usr/bin/env"
        ).wait()
        try #require(result.exitCode == 0, "\(result.errors)")
    }

    private func migrate(_ words: String...) throws -> MigrateCommand.Result {
        try place.shell("\"$migrate\" \(words.joined(separator: " "))")
    }

    private func convert(_ words: String...) throws -> MigrateCommand.Result {
        try migrate("android convert", words.joined(separator: " "), "--out out --force")
    }

    /// The answer of `inspect`, with one space between words.
    private func inspect(_ name: String) throws -> String {
        let result = try migrate("inspect", name)
        #expect(result.exitCode == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map { line in
            (line.hasPrefix(" ") ? " " : "")
                + line.split(separator: " ").joined(separator: " ") + "\n"
        }.joined()
    }

    /// The files in `out`, as `list` names them.
    private func files() throws -> [String] {
        let list = try place.shell("\"$migrate\" verify out >verified && zstd -dc out | tar -t")
        #expect(list.exitCode == 0, "\(list.errors)")
        return list.output.split(separator: "\n").map(String.init).filter { !$0.hasSuffix("/") }
            .sorted()
    }

    private static let entries = [
        "MANIFEST:com.x", "apps/com.x/r/own=root", "apps/com.x/f/a=hello",
        "apps/com.x/db/x.db=@70000", "apps/com.x/db/x.db-wal=wal", "apps/com.x/db/x.db-shm=shm",
        "apps/com.x/sp/s.xml=<map/>", "apps/com.x/ef/photo=jpeg", "apps/com.x/d_f/f=2",
    ]

    private static let expected = [
        "app/databases/x.db", "app/databases/x.db-wal", "app/files/a", "app/own",
        "app/shared_prefs/s.xml", "device/app/files/f", "external/files/photo",
    ]

    private func answer(_ result: MigrateCommand.Result) throws -> [String: Any] {
        let document = try JSONSerialization.jsonObject(with: Data(result.standardOutput))
        return try #require(document as? [String: Any])
    }

    private static let rules = """
        <data-extraction-rules><cross-platform-transfer platform="ios">
        <platform-specific-params bundleId="com.example.app" teamId="ABCDE12345" contentVersion="9"/>
        <include domain="database" path="x.db"/>
        </cross-platform-transfer></data-extraction-rules>
        """

    // MARK: - Every kind of input

    @Test(arguments: 1...5)
    func `converts every version, plain, deflated and encrypted`(_ version: Int) throws {
        try place.write([UInt8]("secret\n".utf8), to: "password")
        var fingerprints: Set<String> = []
        for words in [["--plain"], [], ["--password", "secret"]] {
            let form = ["--form", "ab", "--version", "\(version)"]
            try make("backup.ab", form + words + Self.entries)
            let password = words.count == 2 ? "--password-file password" : ""
            let result = try convert("backup.ab --json", password)
            #expect(result.exitCode == 0, "\(result.errors)")
            let answer = try answer(result)
            #expect(answer["schema"] as? String == "migrate/android-convert/1")
            let header = try #require(answer["header"] as? [String: Any])
            #expect(header["platform"] as? String == "android")
            #expect(header["bundleIdentifier"] as? String == "com.x")
            #expect(header["resourcesVersion"] as? String == "3")
            #expect(header["importers"] as? [String] == ["ABCDE12345.com.example.app"])
            #expect(try files() == Self.expected)
            fingerprints.insert(try #require(answer["fingerprint"] as? String))

            let inspected = try migrate("inspect backup.ab --json", password)
            #expect(inspected.exitCode == 0)
            let shown = try self.answer(inspected)
            #expect(shown["version"] as? Int == version)
            #expect(shown["isCompressed"] as? Bool == (words != ["--plain"]))
            #expect(shown["isEncrypted"] as? Bool == (words.count == 2))
            let list = try migrate("list backup.ab", password)
            #expect(list.exitCode == 0)
            #expect(list.output.contains("apps/com.x/db/x.db-shm"))
        }
        #expect(fingerprints.count == 1)
    }

    @Test func `converts a stream of LocalTransport, from a pipe too`() throws {
        try make("com.x", ["--no-end"] + Self.entries)
        let result = try convert("com.x")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("out: com.x, version '3': 7 files"))
        #expect(
            result.output.contains(
                "left out: app/databases/x.db-shm (SQLite makes it anew from the database"
            )
        )
        #expect(try files() == Self.expected)
        let piped = try place.shell("cat com.x | \"$migrate\" android convert - --out - >out")
        #expect(piped.exitCode == 0)
        #expect(piped.errors.hasPrefix("standard output: com.x"))
        #expect(try files() == Self.expected)
        let existing = try migrate("android convert com.x --out out")
        existing.expectFailure(73)
        let text = try inspect("com.x")
        #expect(text.contains("form data of an Android app\n"), "\(text)")
        #expect(text.contains(" database 3 files, 70.0 kB\n"), "\(text)")
        #expect(text.contains("app ABCDE12345.com.example.app, version '3'\n"), "\(text)")
        let piece = try place.shell("cat com.x | \"$migrate\" list - --json")
        #expect(piece.exitCode == 0)
        #expect(piece.output.contains("\"apps/com.x/ef/photo\""))
    }

    @Test func `converts a copy of an app's directory, and plain tar files of it`() throws {
        let made = try place.shell(
            """
            mkdir -p app/files app/databases app/shared_prefs app/cache app/_external more/files &&
            echo 1 >app/files/a && echo 2 >app/databases/x.db && echo 3 >app/shared_prefs/s.xml &&
            echo 4 >app/cache/c && echo 5 >app/_external/photo && echo 6 >more/files/f &&
            ln -s a app/files/link && tar -C app -cf relative.tar . &&
            tar -cf device.tar --transform 's|^app|data/data/com.x|' app
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let expected = [
            "app/databases/x.db", "app/files/a", "app/shared_prefs/s.xml", "external/files/photo",
        ]
        let tree = try convert("app --package com.x --device more")
        #expect(tree.exitCode == 0, "\(tree.errors)")
        #expect(tree.output.contains("left out: app/cache (Android never sends it)\n"))
        #expect(tree.output.contains("left out: app/files/link (a symbolic link)\n"))
        #expect(try files() == (expected + ["device/app/files/f"]).sorted())
        let nameless = try convert("relative.tar")
        nameless.expectFailure(1)
        #expect(nameless.errors.contains("--package"))
        #expect(try convert("relative.tar --package com.x").exitCode == 0)
        #expect(try files() == expected)
        let named = try convert("device.tar --json")
        #expect(try answer(named)["package"] as? String == "com.x")
        #expect(try files().contains("app/files/a"))
        let apart = try convert("device.tar --device more")
        apart.expectFailure(65)
        #expect(apart.errors.contains("'--device' belong to a directory"))
        #expect(try inspect("app").contains(" file 1 file, 2 B\n"))
        #expect(try migrate("list app").output.contains("app/files/link"))
    }

    // MARK: - Options

    @Test func `names entries as Android does where that is asked for`() throws {
        try make("backup", Self.entries)
        #expect(try convert("backup --layout android").exitCode == 0)
        #expect(try files().contains("apps/com.x/d_f/f"))
        #expect(try files().count == Self.expected.count)
        #expect(try convert("backup --layout ios").exitCode == 0)
        #expect(try files() == Self.expected)
    }

    @Test func `takes what rules and a manifest let through`() throws {
        try make("backup", Self.entries)
        try place.write([UInt8](Self.rules.utf8), to: "rules.xml")
        let result = try convert("backup --rules rules.xml")
        #expect(result.exitCode == 0)
        #expect(result.output.contains("left out: app/files/a (the rules leave it out)\n"))
        #expect(try files() == ["app/databases/x.db", "app/databases/x.db-wal"])
        let manifest = """
            <manifest xmlns:android="http://schemas.android.com/apk/res/android">
            <application android:allowBackup="false"/></manifest>
            """
        try place.write([UInt8](manifest.utf8), to: "manifest.xml")
        let refused = try convert("backup --rules rules.xml --manifest manifest.xml")
        refused.expectFailure(1)
        #expect(refused.errors.contains("takes no part in a transfer to iOS: the manifest says"))
        let odd = try convert("backup --rules manifest.xml")
        odd.expectFailure(65)
    }

    @Test func `asks for the package where there are several`() throws {
        try make("backup", ["apps/com.x/f/a=1", "apps/com.y/f/b=22"])
        let several = try convert("backup")
        several.expectFailure(1)
        #expect(several.errors.hasSuffix(": com.x, com.y; choose one with '--package'\n"))
        #expect(try convert("backup --package com.y").exitCode == 0)
        #expect(try files() == ["app/files/b"])
        let none = try convert("backup --package com.z")
        none.expectFailure(1)
        #expect(none.errors.contains("does not hold 'com.z'; it holds com.x, com.y"))
        #expect(try inspect("backup").contains("package com.x\n file 1 file, 1 B\npackage com.y\n"))
    }

    // MARK: - The manifest

    @Test func `writes and shows the manifest of a backup`() throws {
        try place.write([UInt8](Self.rules.utf8), to: "rules.xml")
        let hash = String(repeating: "Ab", count: 32)
        let written = try migrate(
            "android manifest written --rules rules.xml --package com.x --signature",
            hash
        )
        #expect(written.exitCode == 0, "\(written.errors)")
        let text =
            "1\ncom.x\nios\n1\ncom.example.app\nABCDE12345\n9\n1\n" + hash.lowercased() + "\n"
        #expect(try String(decoding: place.bytes(of: "written"), as: UTF8.self) == text)
        let again = try migrate("android manifest written --rules rules.xml --package com.x")
        again.expectFailure(73)
        #expect(again.errors.contains("--force"))

        let shown = try migrate(
            "android manifest written --json --app-id ABCDE12345.com.example.app"
        )
        let answer = try answer(shown)
        #expect(answer["schema"] as? String == "migrate/android-manifest/1")
        #expect(answer["package"] as? String == "com.x")
        #expect(answer["platform"] as? String == "ios")
        let apps = try #require(answer["apps"] as? [[String: String]])
        #expect(
            apps == [
                [
                    "bundleId": "com.example.app", "teamId": "ABCDE12345", "contentVersion": "9",
                ]
            ]
        )
        #expect(answer["signatures"] as? [String] == [hash.lowercased()])
        let other = try migrate("android manifest written --app-id ABCDE12345.com.example.other")
        other.expectFailure(1)
        #expect(other.errors.contains("to ABCDE12345.com.example.app and not to"))

        try place.write([UInt8](text.utf8.dropLast(20)), to: "short")
        let short = try migrate("android manifest short")
        short.expectFailure(65)
        #expect(short.errors.contains("ends before a signature"))
        try place.write([UInt8]("2\n".utf8), to: "newer")
        #expect(try migrate("android manifest newer").exitCode == 65)
        #expect(try migrate("android manifest written --app-id nodot").exitCode == 64)
        #expect(try migrate("android manifest new --package com.x").exitCode == 64)
    }

    // MARK: - Bad input

    @Test func `keeps a wrong password, damage and what is unsupported apart`() throws {
        for (name, word) in [("right", "right"), ("wrong", "wrong")] {
            try place.write([UInt8](word.utf8), to: name)
        }
        try make("backup", ["--form", "ab", "--password", "right", "apps/a/f/x=@5000"])
        for command in ["android convert backup --out out", "inspect backup", "list backup"] {
            let missing = try migrate(command)
            missing.expectFailure(77)
            #expect(missing.errors.contains("encrypted; give its password with '--password-file'"))
            let wrong = try migrate(command, "--password-file wrong")
            wrong.expectFailure(77)
            #expect(wrong.errors.contains("the password is wrong"))
        }
        let bytes = try place.bytes(of: "backup")
        try place.write(Array(bytes.prefix(200)), to: "short")
        let short = try convert("short --password-file right")
        short.expectFailure(65)
        #expect(short.errors.contains("the backup's header is damaged"))
        try place.write([UInt8]("ANDROID BACKUP\n5\n1\nnone\nnonsense".utf8), to: "nonsense")
        let damaged = try convert("nonsense")
        damaged.expectFailure(65)
        #expect(damaged.errors.contains("damaged"))
        try place.write([UInt8]("ANDROID BACKUP\n6\n1\nnone\n".utf8), to: "newer")
        let newer = try convert("newer")
        newer.expectFailure(65)
        #expect(newer.errors.contains("of version 6, and versions 1 to 5 are known"))
        try place.write([UInt8]("TWRP".utf8) + [UInt8](repeating: 0, count: 1020), to: "twrp")
        let foreign = try convert("twrp")
        foreign.expectFailure(65)
        #expect(foreign.errors.contains("TWRP's 'adb backup --twrp'"))
        #expect(!place.exists("out"))
    }

    @Test func `says that nothing was backed up`() throws {
        try place.write([UInt8]("p".utf8), to: "password")
        let script = """
            import sys, zlib
            compressor = zlib.compressobj(9)
            body = compressor.compress(bytes(1024)) + compressor.flush(zlib.Z_SYNC_FLUSH)
            sys.stdout.buffer.write(b"ANDROID BACKUP\\n5\\n1\\nnone\\n" + body)
            """
        #expect(try place.shell("python3 -c '\(script)' >plain").exitCode == 0)
        try make("locked", ["--form", "ab", "--password", "p"])
        try make("manifest", ["MANIFEST:com.x"])
        #expect(try place.bytes(of: "plain").count < 60)
        for name in ["plain", "locked --password-file password", "manifest"] {
            for result in [
                try convert(name), try migrate("inspect", name), try migrate("list", name),
            ] {
                #expect(result.exitCode == 1)
                let message =
                    "is not eligible, or not debuggable; 'migrate android preview' says why"
                #expect(result.errors.contains("nothing was backed up"), "\(result.errors)")
                #expect(result.errors.contains(message))
            }
        }
    }

    @Test func `salvages what follows an entry that is too short`() throws {
        let three = ["apps/a/f/1=@3000", "apps/a/f/2=@3000", "apps/a/f/3=@3000"]
        try make("backup", ["--shrink", "apps/a/f/2=1024"] + three)
        let result = try convert("backup")
        #expect(result.exitCode == 1)
        #expect(try files() == ["app/files/1", "app/files/3"])
        #expect(result.output.contains("salvaged: app/files/1\nsalvaged: app/files/3\n"))
        #expect(
            result.output.contains(
                "lost: apps/a/f/2 (it is shorter than its header says: at most 1024 of 3000 bytes)\n"
            )
        )
        let answer = try answer(try convert("backup --json"))
        #expect(answer["salvaged"] as? [String] == ["app/files/1", "app/files/3"])
        #expect((answer["lost"] as? [String: Any])?["count"] as? Int == 1)
        let list = try migrate("list backup")
        #expect(list.exitCode == 1)
        #expect(list.errors.contains("migrate: warning: lost: apps/a/f/2"))
        let inspected = try migrate("inspect backup")
        #expect(inspected.exitCode == 1)
        #expect(inspected.output.contains("apps/a/f/2 (it is shorter"))
    }

    @Test func `calls damage from the start on damage`() throws {
        try make("backup", ["--form", "ab", "--plain", "apps/a/f/1=@3000"])
        var bytes = try place.bytes(of: "backup")
        for index in 24..<600 { bytes[index] = 0x55 }
        try place.write(bytes, to: "backup")
        let result = try convert("backup")
        result.expectFailure(65)
        #expect(result.errors.contains("nothing of the backup can be read"))
    }

    @Test func `leaves out links, devices and paths that lead elsewhere`() throws {
        try make(
            "backup",
            [
                "apps/a/f/good=1", "apps/a/f/../../../escape=1", "apps/a/f//double=1",
                "apps/a/f/link->/etc/passwd", "DEVICE:apps/a/f/null", "FIFO:apps/a/f/pipe",
                "HARD:apps/a/f/again",
            ]
        )
        let result = try convert("backup")
        // A path that can't be taken is lost.
        #expect(result.exitCode == 1)
        #expect(try files() == ["app/files/good"])
        for line in [
            "lost: apps/a/f/../../../escape (the path has a '..' component)",
            "lost: apps/a/f//double (the path has an empty component)",
            "left out: apps/a/f/link (a symbolic link)", "left out: apps/a/f/null (a device)",
            "left out: apps/a/f/pipe (a FIFO)", "left out: apps/a/f/again (a hard link)",
        ] { #expect(result.output.contains("\(line)\n"), "\(line)") }
    }

    @Test func `bounds what a bomb takes`() throws {
        let script = """
            import sys, tarfile, zlib
            info = tarfile.TarInfo("apps/a/f/letters")
            info.size = 200 << 20
            out = sys.stdout.buffer
            out.write(b"ANDROID BACKUP\\n5\\n1\\nnone\\n")
            compressor = zlib.compressobj(9)
            out.write(compressor.compress(info.tobuf(tarfile.USTAR_FORMAT)))
            for _ in range(200): out.write(compressor.compress(b"a" * (1 << 20)))
            out.write(compressor.compress(bytes(1024)) + compressor.flush())
            """
        #expect(try place.shell("python3 -c '\(script)' >backup").exitCode == 0)
        // The shell can limit the size of files, and unpacked data is in a file.
        let result = try place.shell(
            "ulimit -f 20000; \"$migrate\" android convert backup --out out"
        )
        #expect(result.exitCode == 73, "\(result.errors)")
        #expect(!place.exists("out"))
        #expect(try place.names() == ["backup"])
    }

    // MARK: - Other commands

    @Test func `points from other commands to convert`() throws {
        try make("backup.ab", ["--form", "ab"] + Self.entries)
        try make("stream", Self.entries)
        try place.makeContainer()
        for command in [
            "import backup.ab --container copy", "verify backup.ab",
            "extract backup.ab --to copy", "diff backup.ab --container source",
        ] {
            let result = try migrate(command)
            #expect(result.exitCode == 65, "\(command): \(result.errors)")
            #expect(result.errors.contains("'migrate android convert'"), "\(command)")
        }
        let piped = try place.shell("cat backup.ab | \"$migrate\" import - --container copy")
        piped.expectFailure(65)
        let refused = try migrate("import stream --container copy")
        refused.expectFailure(65)
        #expect(refused.errors.contains("'migrate android convert'"))
        #expect(!place.exists("copy/apps"))
        for command in [
            "verify stream", "extract stream --to extracted", "diff stream --container source",
        ] {
            let result = try migrate(command)
            #expect(
                result.errors.contains("migrate: warning: stream is an Android backup"),
                "\(command): \(result.errors)"
            )
        }
    }

    @Test func `imports for the app that the backup is meant for`() throws {
        try make("backup", Self.entries)
        #expect(try convert("backup").exitCode == 0)
        let other = try migrate(
            "import out --container copy --app-id ABCDE12345.com.example.other"
        )
        other.expectFailure(1)
        #expect(
            other.errors.contains(
                "the archive is for ABCDE12345.com.example.app and not for "
                    + "'ABCDE12345.com.example.other'"
            )
        )
        #expect(!place.exists("copy/app"))
        let right = try migrate("import out --container copy --app-id ABCDE12345.com.example.app")
        #expect(right.exitCode == 0, "\(right.errors)")
        #expect(place.exists("copy/app/files/a"))
        #expect(try inspect("out").contains("for ABCDE12345.com.example.app\n"))
        try place.makeContainer()
        try place.export()
        let silent = try migrate("import archive --container second --app-id T.a")
        silent.expectFailure(1)
        #expect(silent.errors.contains("the archive does not name the apps that may import it"))
        #expect(try migrate("import out --container third --app-id nodot").exitCode == 64)
    }

    // MARK: - The way back

    @Test func `makes a stream of an export that Android restores`() throws {
        let long = String(repeating: "long/", count: 30) + "name"
        let made = try place.shell(
            """
            mkdir -p source/app/files/locked source/app/databases source/app/shared_prefs \
            source/external/files source/device/app/files source/Documents &&
            mkdir -p "source/app/files/$(dirname \(long))" &&
            echo deep >"source/app/files/\(long)" && echo umlaut >source/app/files/ü &&
            echo root >source/app/own && head -c 300000 /dev/urandom >source/app/databases/x.db &&
            truncate -s 1M source/app/databases/holes && : >source/app/shared_prefs/s.xml &&
            echo photo >source/external/files/photo && echo d >source/device/app/files/d &&
            echo other >source/Documents/note && echo in >source/app/files/locked/in &&
            ln -s own source/app/files/link && ln source/app/own source/app/files/again &&
            chmod 555 source/app/files/locked && chmod 444 source/app/own &&
            "$migrate" export --container source --out archive --resources-version 7 >/dev/null
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let unsaid = try migrate("android convert archive --to android --out stream")
        #expect(unsaid.exitCode == 64)
        #expect(unsaid.errors.contains("needs '--package', the app on Android, and '--app-id'"))
        let clash = try migrate(
            "android convert archive --to android --out stream --package com.x --app-id T.a",
            "--layout ios"
        )
        #expect(clash.exitCode == 64)
        let result = try place.shell(
            """
            mkdir _full && "$migrate" android convert archive --to android --out _full/com.x \
            --package com.x --app-id ABCDE12345.com.example.app
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("left out: Documents/note (no domain of Android's"))
        #expect(result.output.contains("left out: app/files/link (a symbolic link"))
        #expect(result.output.contains("hard link"))
        try checkByPython()

        let back = try convert("_full/com.x --app-id ABCDE12345.com.example.app --json")
        #expect(back.exitCode == 0, "\(back.errors)")
        let header = try #require(try answer(back)["header"] as? [String: Any])
        #expect(header["resourcesVersion"] as? String == "7")
        let same = try place.shell(
            """
            "$migrate" extract out --to back >/dev/null && cd back &&
            for file in $(find . -type f); do cmp "$file" "../source/$file" || exit 1; done &&
            find . -type f | wc -l; stat -c %a app/files/locked
            """
        )
        #expect(same.exitCode == 0, "\(same.output)\(same.errors)")
        #expect(same.output == "9\n755\n")
        _ = try place.shell("chmod -R u+w source back")
    }

    /// Reads the stream as Python's `tarfile` does, and its headers block by block as Android does.
    private func checkByPython() throws {
        let script = """
            import tarfile
            order = "r d_r f d_f db d_db sp d_sp ef".split()
            with tarfile.open("_full/com.x") as tar:
                members = tar.getmembers()
                names = [m.name for m in members]
                assert names[0] == "apps/com.x/_manifest", names[0]
                assert names[1] == "apps/com.x/_cross_platform_manifest", names[1]
                assert tar.extractfile(members[1]).read() == (
                    b"1\\ncom.x\\nios\\n1\\ncom.example.app\\nABCDE12345\\n7\\n0\\n")
                tokens = [name.split("/")[2] for name in names[2:]]
                assert [order.index(t) for t in tokens] == sorted(order.index(t) for t in tokens)
                assert all(len(name.split("/")) > 3 for name in names[2:]), "a parent directory"
                seen = set()
                for m in members[2:]:
                    assert m.isdir() or m.isreg(), m.name
                    assert not m.isdir() or m.mode & 0o200, m.name
                    parent = m.name.rsplit("/", 1)[0]
                    assert len(parent.split("/")) == 3 or parent in seen, m.name
                    if m.isdir(): seen.add(m.name)
                for m in members:
                    if m.isreg() and m.name[11:13] == "f/":
                        with open("source/app/files/" + m.name[13:], "rb") as file:
                            assert file.read() == tar.extractfile(m).read(), m.name
            data = open("_full/com.x", "rb").read()
            position, kinds = 0, set()
            while any(data[position:position + 512]):
                block = data[position:position + 512]
                kinds.add(block[156:157])
                assert block[257:265] == b"ustar\\x0000", block[257:265]
                total = sum(block[:148]) + 8 * 32 + sum(block[156:])
                assert int(block[148:154], 8) == total
                position += 512 + (int(block[124:135], 8) + 511) // 512 * 512
            assert data[position:] == bytes(1024)
            assert kinds == {b"0", b"5", b"x"}, kinds
            print("ok")
            """
        try place.write([UInt8](script.utf8), to: "check.py")
        let result = try place.shell("python3 check.py")
        #expect(result.output == "ok\n", "\(result.errors)")
    }
}
