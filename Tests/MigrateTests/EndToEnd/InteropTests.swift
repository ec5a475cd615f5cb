import Foundation
import TestSupport
import Testing

/// Our archives read by other programs, and theirs read by us.
@Suite(.scratchDirectory)
struct InteropTests {
    private static let readers = [
        ("tar", "zstd -dc archive | tar -tf -"), ("bsdtar", "bsdtar -tf archive"),
        ("tar", "tar --zstd -tf archive"), ("bsdtar", "zstd -dc archive | bsdtar -tf -"),
        (
            "python3",
            """
            zstd -dc archive | python3 -W error -c 'import sys, tarfile
            for e in tarfile.open(fileobj=sys.stdin.buffer, mode="r|"): print(e.name)'
            """
        ),
    ]

    @Test(
        .enabled(if: Machine.has("zstd"), "zstd decompresses"),
        arguments: readers
    )
    func `is listed by other programs without a warning`(_ tool: String, _ script: String) throws {
        try Test.require(tool)
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let result = try place.shell(script)
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
        let names = result.output.split(separator: "\n").map { $0.trimmingSuffix("/") }
        #expect(names.count == 12)
        #expect(Set(names).isSuperset(of: ["Documents", "Documents/empty", "Documents/größe"]))
    }

    @Test(.enabled(if: Machine.has("zstd"), "needs zstd"))
    func `is sound to zstd`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let result = try place.shell("zstd -q -t archive")
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
    }

    @Test(.enabled(if: Machine.has("zstd") && Machine.has("tar"), "needs tar and zstd"))
    func `is extracted by tar to the same tree, with times in whole seconds`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let result = try place.shell("mkdir out && zstd -dc archive | tar -xpf - -C out")
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
        var expected = try coarse(place.tree("source"))
        expected["Library/Caches"] = nil
        expected["Library/Caches/page"] = nil
        #expect(try coarse(place.tree("out")) == expected)
    }

    @Test(
        .enabled(if: Machine.has("zstd"), "needs zstd"),
        arguments: [
            ("tar", "zstd -dc archive | tar -xpf - -C out"),
            ("bsdtar", "bsdtar -xpf archive -C out"),
        ]
    )
    func `is restored to an ordinary user with every mode, time and link`(
        _ tool: String,
        _ script: String
    ) throws {
        try Test.require(tool)
        if Machine.isRoot { try Test.require("setpriv") }
        let place = try Workplace()
        // More files than a window holds lie between the names of one file, and in a closed directory.
        try place.shell(
            """
            umask 022; mkdir -p source/Documents/a/b/c source/Documents/m source/Documents/z &&
            cd source/Documents && echo shared > a/b/c/first && ln a/b/c/first z/last &&
            ln a/b/c/first m/5000-again && ln -s ../z/last a/link && ln -P a/link z/link &&
            (cd m && seq -f file-%g 9000 | xargs touch) && echo x > a/b/file &&
            find . -exec touch -h -d @1600000000 {} + && touch -d @1500000000 a a/b z &&
            chmod 555 a/b/c a/b a m
            """
        )
        try place.export()
        let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let result = try place.shell(
            """
            mkdir out; chmod 755 .; chmod 644 archive; \(Machine.isRoot ? "chown 65534:65534 out" : ":")
            \(Machine.isRoot ? user : "") sh -c 'umask 022; \(script)'
            """
        )
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
        let restored = try place.tree("out")
        #expect(try restored == place.tree("source"))
        #expect(restored.count == 9012)
        try place.shell("chmod -R u+w source out")
    }

    private static let writers = [
        ("tar", "tar --format=gnu -cf out.tar -C source ."),
        ("tar", "tar --format=posix -cf out.tar -C source ."),
        ("tar", "tar --format=ustar --exclude='n*n' -cf out.tar -C source ."),
        ("tar", "tar --format=v7 --exclude='n*n' -cf out.tar -C source ."),
        ("tar", "tar --format=posix -cf out.tar -C source Documents Library"),
        ("tar", "tar --format=gnu -b 1 -cf out.tar -C source ."),
        ("bsdtar", "bsdtar --format pax -cf out.tar -C source ."),
        ("bsdtar", "bsdtar --format gnutar -cf out.tar -C source ."),
        ("bsdtar", "bsdtar --format ustar --exclude='n*n' -cf out.tar -C source ."),
    ]

    @Test(arguments: writers)
    func `imports what other programs write`(_ tool: String, _ script: String) throws {
        try Test.require(tool)
        try expectImport(of: script)
    }

    @Test(
        .enabled(if: Machine.has("python3"), "needs Python"),
        arguments: ["PAX", "GNU", "USTAR"]
    )
    func `imports what Python writes`(_ format: String) throws {
        try expectImport(
            of: """
                rm source/Library/nn*; python3 -c 'import tarfile
                t = tarfile.open("out.tar", "w", format=tarfile.\(format)_FORMAT)
                t.add("source", arcname=".")
                t.close()'
                """
        )
    }

    private func expectImport(of script: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("rm -r source/Library/Caches")
        let made = try place.shell(script)
        try #require(made.exitCode == 0, "\(made.errors)")
        // Full times only if the format has them.
        let expected = try coarse(place.tree("source")).filter { !$0.key.contains("nnn") }
        for name in ["out.tar", "out.tar.zst"] {
            if name.hasSuffix("zst") {
                guard try place.shell("zstd -q out.tar").exitCode == 0 else { return }
            }
            let result = try place.migrate(
                "import",
                place.path(name),
                "--container",
                place.path(name + ".d")
            )
            #expect(result.exitCode == 0)
            let note = "migrate: note: \(place.path(name)) carries no fingerprint: "
            #expect(result.errorLine == note + "nothing proves that it is complete")
            let tree = try coarse(place.tree(name + ".d")).filter { !$0.key.contains("nnn") }
            #expect(tree == expected)
        }
    }

    /// Another program's result from an archive of ours: the rows of the table in *The archive
    /// format*.
    struct Reader: CustomTestStringConvertible, Sendable {
        let program: String
        let command: String
        /// The lines of the probe, in order: modes of a read-only directory, attributes, names.
        let expected: String
        var testDescription: String { command }
    }

    static let table = [
        Reader(program: "tar", command: "tar --xattrs -xf ../a.tar", expected: "555 user.a%b 2"),
        Reader(program: "tar", command: "tar -xf ../a.tar", expected: "555 - 2"),
        Reader(
            program: "bsdtar",
            command: "LC_ALL=C.UTF-8 bsdtar -xpf ../a.tar",
            expected: "555 user.a%25b 1"
        ),
        Reader(
            program: "bsdtar",
            command: "LC_ALL=C bsdtar -xpf ../a.tar",
            expected: "555 user.a%25b 2"
        ),
        Reader(program: "busybox", command: "busybox tar -xf ../a.tar", expected: "555 - 2"),
        Reader(program: "7z", command: "7z x -y ../a.tar >/dev/null", expected: "- - 2"),
        Reader(program: "pax", command: "pax -r -pp -f ../a.tar", expected: "555 - 2"),
        Reader(
            program: "cpio",
            command: "cpio -idm --quiet -H ustar -F ../a.tar",
            expected: "555 - 0"
        ),
        Reader(
            program: "python3",
            command: "python3 -c 'import tarfile; tarfile.open(\"../a.tar\").extractall()'",
            expected: "555 - 2"
        ),
        Reader(
            program: "go",
            command: """
                GOCACHE=$PWD/../cache GO111MODULE=off go run '\(untar)' <../a.tar; chmod -R u+w ../cache
                """,
            expected: "555 user.a%25b 2"
        ),
    ]

    /// The program that restores by Go's `archive/tar`.
    private static var untar: String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/untar.go").standardized.path
    }

    @Test(
        .enabled(if: Machine.has("zstd") && Machine.has("python3"), "needs zstd"),
        arguments: table
    )
    func `each reader keeps and loses what the table says`(_ reader: Reader) throws {
        try Test.require(reader.program)
        let place = try Workplace()
        let result = try place.shell(
            """
            set -e
            umask 022
            python3 - <<'END'
            import os
            os.makedirs("source/Documents/ro")
            for name in [b"a", b"ro/f", b"x", "e\\u0301".encode(), "\\u00e9".encode()]:
                open(b"source/Documents/" + name, "wb").write(b"x")
            os.link("source/Documents/a", "source/Documents/b")
            os.setxattr("source/Documents/x", "user.a%b", b"1")
            os.utime("source/Documents/ro", ns=(10**18 + 5, 10**18 + 5))
            os.chmod("source/Documents/ro", 0o555)
            END
            "$migrate" export --container source --out a.tar.zst >&2
            zstd -dq a.tar.zst && mkdir out && cd out
            # Some end with 1 over a name that their locale can't show.
            \(reader.command) 2>/dev/null || true
            cd .. && python3 - <<'END'
            import os
            status = os.stat("out/Documents/ro")
            assert status.st_mtime_ns == 10**18, status
            assert os.path.samefile("out/Documents/a", "out/Documents/b")
            mode = f"{status.st_mode & 0o777:o}"
            names = [n for n in os.listdir(b"out/Documents") if n in (b"e\\xcc\\x81", b"\\xc3\\xa9")]
            attributes = os.listxattr("out/Documents/x")
            print("555" if mode == "555" else "-", ",".join(attributes) or "-", len(names))
            END
            """
        )
        #expect(result.output == reader.expected + "\n", "\(result.errors)")
    }

    private func coarse(_ tree: [String: String]) -> [String: String] {
        tree.mapValues { $0.replacing(#/\.\d+/#, with: "", maxReplacements: 1) }
    }
}

extension Test {
    /// Ends the test without a failure if the machine has no such program.
    static func require(_ program: String) throws {
        if !Machine.has(program) { try cancel("there is no \(program) here") }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : String(self)
    }
}
