import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Encrypted archives", .scratchDirectory)
struct EncryptionTests {
    /// A key that `age-keygen` made.
    static let identity =
        "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
    static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"

    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        try place.write([UInt8]("# a key\n\(Self.identity)\n".utf8), to: "key")
        try place.write([UInt8]("correct horse battery\n".utf8), to: "passphrase")
    }

    private func export(_ arguments: String..., to name: String) throws {
        let words = ["export", "--container", place.path("source"), "--out", place.path(name)]
        let result = try MigrateCommand.run(words + arguments)
        try #require(result.exitCode == 0, "\(result.errors)")
    }

    @Test func `an encrypted archive goes through a pipe`() throws {
        let result = try place.shell(
            """
            "$migrate" export --container source --out - --recipient \(Self.recipient) |
            "$migrate" import - --container target --identity key
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(try place.tree("target") == place.tree("source").filter { !$0.key.isCache })
        // Armored, and with a passphrase.
        let other = try place.shell(
            """
            "$migrate" export --container source --out - --armor --passphrase-file passphrase |
            "$migrate" import - --container other --passphrase-file passphrase
            """
        )
        #expect(other.exitCode == 0, "\(other.errors)")
        #expect(try place.tree("other") == place.tree("target"))
    }

    @Test func `each command reads it with the key, also from the environment`() throws {
        try export("--recipient", Self.recipient, to: "archive.age")
        try place.export(as: "plain")
        #expect(try place.bytes(of: "archive.age").starts(with: "age-encryption.org/v1\n".utf8))
        let plain = try place.migrate("list", "--json-lines", place.path("plain"))
        let commands = [
            ["inspect"], ["list"], ["verify"], ["extract", "Documents/numbers", "--to", "out"],
            ["diff", "--container", "source"],
        ]
        for command in commands {
            let words = [command[0], "archive.age"] + command.dropFirst()
            let text = words.joined(separator: " ")
            let result = try place.shell("\"$migrate\" \(text) --identity key")
            #expect(result.exitCode == 0, "\(text): \(result.errors)")
            let denied = try place.shell("rm -rf out; \"$migrate\" \(text)")
            #expect(denied.exitCode == 77, "\(text): \(denied.errors)")
            #expect(denied.errors.contains("encrypted for 1 recipient of kind X25519"))
            #expect(denied.errors.contains("'--identity'"))
        }
        let listed = try place.shell(
            "MIGRATE_IDENTITY=key \"$migrate\" list --json-lines archive.age"
        )
        #expect(listed.standardOutput == plain.standardOutput)
    }

    @Test func `the fingerprint is that of the archive without encryption`() throws {
        try export("--recipient", Self.recipient, to: "archive.age")
        try place.export(as: "plain")
        let script = "grep -o 'fingerprint [0-9a-f]*'"
        let result = try place.shell(
            """
            a=$("$migrate" verify archive.age --identity key | \(script))
            b=$("$migrate" verify plain | \(script))
            [ -n "$a" ] && [ "$a" = "$b" ]
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test func `each way to fail has its own message, and the container stays`() throws {
        try place.makeContainer("noise", megabytes: 1)
        let out = place.path("archive.age")
        let made = try place.migrate(
            "export",
            "--container",
            place.path("noise"),
            "--out",
            out,
            "--recipient",
            Self.recipient
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        try export("--passphrase-file", place.path("passphrase"), to: "secret.age")
        try place.write([UInt8]("wrong\n".utf8), to: "wrong")
        let made2 = try place.shell("\"$migrate\" import archive.age --container c --identity key")
        try #require(made2.exitCode == 0, "\(made2.errors)")
        let before = try place.tree("c")
        let bytes = try place.bytes(of: "archive.age")
        let start =
            try #require(
                bytes.indices.first { bytes[$0...].starts(with: "\n--- ".utf8) }
            ) + 49 + 16
        func changing(_ position: Int) -> [UInt8] {
            var changed = bytes
            changed[position] ^= 1
            return changed
        }
        try place.write(changing(start - 30), to: "header.age")
        try place.write(changing(start + 100_000), to: "payload.age")
        try place.write([UInt8](bytes[..<(start + 3 * 65_552)]), to: "cut.age")
        let ways: [(command: String, code: Int32, message: String)] = [
            ("archive.age", 77, "encrypted for 1 recipient of kind X25519; give '--identity'"),
            ("secret.age", 77, "encrypted with a passphrase; give '--identity'"),
            ("secret.age --passphrase-file wrong", 77, "the passphrase does not open the archive"),
            ("secret.age --identity key", 77, "with a passphrase, and none was given"),
            ("archive.age --passphrase-file wrong", 77, "and no identity was given"),
            ("header.age --identity key", 65, "header is damaged: "),
            ("payload.age --identity key", 65, "chunk 1 of the encrypted archive is not the one"),
            ("cut.age --identity key", 65, "cut short: it ends after chunk 2"),
            ("archive.age --identity passphrase", 64, "line 1 is not an identity"),
            ("archive.age --identity none", 64, "the file of '--identity' can't be read: none: No"),
        ]
        for way in ways {
            let file = way.command.split(separator: " ")[0]
            let options = way.command.dropFirst(file.count)
            for command in ["import \(way.command)", "import - \(options) <\(file)"] {
                let result = try place.shell(
                    "\"$migrate\" \(command) --container c --replace"
                )
                #expect(result.exitCode == way.code, "\(command): \(result.errors)")
                #expect(result.errors.contains(way.message), "\(command): \(result.errors)")
                #expect(!result.errors.contains("battery"))
                #expect(try place.tree("c") == before, "\(command)")
            }
        }
        #expect(try place.names().allSatisfy { !$0.hasPrefix(".") })
    }

    @Test(.enabled(if: Machine.isRoot, "only root may look into a process that holds keys"))
    func `no passphrase is in memory once it was used`() throws {
        // The archive is read by frames of 4 MiB: the first has come, the last has not.
        try place.makeContainer("noise", megabytes: 9)
        let passphrase = "correct horse battery staple"
        try place.write([UInt8]("\(passphrase)\n".utf8), to: "words")
        let made = try place.shell(
            "\"$migrate\" export --container noise --out secret.age --passphrase-file words"
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let bytes = try place.bytes(of: "secret.age")
        let running = try place.startStalled(
            "import",
            "-",
            "--container",
            place.path("target"),
            "--passphrase-file",
            place.path("words"),
            input: [UInt8](bytes.prefix(40_000_000))
        )
        defer {
            running.send(SIGKILL)
            _ = try? running.wait()
        }
        // The container is made once the archive was opened, and so the passphrase used.
        try place.wait { place.exists("target") }
        #expect(try memory(of: running, holds: [UInt8](place.path("words").utf8)))
        #expect(try !memory(of: running, holds: [UInt8](passphrase.utf8)))
    }

    /// Whether `bytes` are anywhere in the memory of a process.
    private func memory(of command: MigrateCommand, holds bytes: [UInt8]) throws -> Bool {
        let maps = try String(contentsOfFile: "/proc/\(command.process)/maps", encoding: .utf8)
        let file = open("/proc/\(command.process)/mem", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        for line in maps.split(separator: "\n") where line.contains(" rw") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap {
                UInt64($0, radix: 16)
            }
            // A sanitizer's shadow covers much of the address space.
            guard ends[1] - ends[0] < 1 << 40 else { continue }
            if try region(ends[0]..<ends[1], of: file, holds: Data(bytes)) { return true }
        }
        return false
    }

    /// Whether `bytes` are in a part of a process's memory, as far as it can be read.
    private func region(_ part: Range<UInt64>, of file: Int32, holds bytes: Data) throws -> Bool {
        var content = Data(count: 4 << 20)
        var place = part.lowerBound
        while place < part.upperBound {
            let room = min(content.count, Int(part.upperBound - place))
            let count = content.withUnsafeMutableBytes {
                pread(file, $0.baseAddress, room, off_t(place))
            }
            guard count > 0 else { return false }
            if content.prefix(count).range(of: bytes) != nil { return true }
            guard count > bytes.count else { return false }
            // A match across two readings is found by the second.
            place += UInt64(place + UInt64(count) < part.upperBound ? count - bytes.count : count)
        }
        return false
    }

    @Test(.enabled(if: Machine.isRoot, "only root may look into a process that holds keys"))
    func `what an import decrypts lies in its staging directory alone`() throws {
        try place.makeContainer("noise", megabytes: 48)
        let sealed = try place.shell(
            """
            mkdir temporary && "$migrate" export --container noise --out sealed --recipient \
                \(Self.recipient) && mv noise/Documents/noise original && rm -r noise source
            """
        )
        try #require(sealed.exitCode == 0, "\(sealed.errors)")
        let original = try Data(contentsOf: URL(filePath: place.path("original")))
        try place.shell("rm original")
        // One place near the start, which the import has written where it stalls: it reads some pieces ahead.
        let mark = original[1_000_000..<1_000_064]
        let words = ["import", "-", "--container", "target", "--identity", "key"].map {
            $0 == "target" || $0 == "key" ? place.path($0) : $0
        }
        let running = try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            input: [UInt8](try place.bytes(of: "sealed").prefix(40_000_000)),
            stalls: true,
            environment: ["TMPDIR": place.path("temporary"), "HOME": place.path("temporary")]
        )
        var isRunning = true
        defer {
            if isRunning {
                running.send(SIGKILL)
                _ = try? running.wait()
            }
        }
        try place.wait { try !paths(holding: mark).isEmpty }
        func isStaged(_ path: String) -> Bool { path.contains(".migration-staging") }
        #expect(try paths(holding: mark).allSatisfy(isStaged))
        let written = try filesOpenForWriting(by: running)
        #expect(written.contains(where: isStaged))
        #expect(
            written.allSatisfy { isStaged($0) || $0.hasPrefix(place.path("target")) },
            "\(written)"
        )
        #expect(try !paths(holding: mark).contains { $0.hasPrefix(place.path("target") + "/") })
        running.send(SIGKILL)
        _ = try running.wait()
        isRunning = false
        #expect(try paths(holding: mark).allSatisfy(isStaged))
        // The next command removes what was left.
        let status = try place.shell("\"$migrate\" status --container target")
        #expect(status.output.contains("interrupted"), "\(status.output)\(status.errors)")
        #expect(try paths(holding: mark) == [])
    }

    /// The files in the directory whose bytes contain `mark`.
    private func paths(holding mark: Data) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: place.directory.path)
            .map { place.path($0) }
            .filter { path in
                guard let bytes = try? Data(contentsOf: URL(filePath: path)) else { return false }
                return bytes.range(of: mark) != nil
            }
    }

    /// The files, including removed ones and memory, that a process has opened itself for writing.
    private func filesOpenForWriting(by command: MigrateCommand) throws -> [String] {
        let inherited = Set(try openFiles(of: "/proc/self").map(\.path))
        return try openFiles(of: "/proc/\(command.process)")
            .filter { $0.isForWriting && !inherited.contains($0.path) }.map(\.path)
    }

    private func openFiles(of process: String) throws -> [(path: String, isForWriting: Bool)] {
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd")
        return numbers.filter { Int($0) ?? 0 > 2 }.compactMap { number in
            var target = [UInt8](repeating: 0, count: 4096)
            let count = readlink("\(process)/fd/\(number)", &target, target.count)
            let info = try? String(contentsOfFile: "\(process)/fdinfo/\(number)", encoding: .utf8)
            guard count > 0, target.first == UInt8(ascii: "/"),
                let field = info?.split(separator: "\n").first(where: { $0.hasPrefix("flags:") }),
                let flags = Int32(field.dropFirst(6).trimmingCharacters(in: .whitespaces), radix: 8)
            else { return nil }
            let path = String(decoding: target[..<count], as: UTF8.self)
            return (path, flags & O_ACCMODE != O_RDONLY)
        }
    }

    @Test func `only age knows the other kinds of key`() throws {
        try export("--recipient", Self.recipient, to: "archive.age")
        let text = try #require(
            String(bytes: try place.bytes(of: "archive.age"), encoding: .isoLatin1)
        )
        let bytes = text.replacingOccurrences(of: "-> X25519 ", with: "-> ssh-ed25519 abcd ")
        try place.write(bytes.unicodeScalars.map { UInt8($0.value) }, to: "ssh.age")
        for key in ["", "--identity key"] {
            let result = try place.shell("\"$migrate\" inspect ssh.age \(key)")
            #expect(result.exitCode == 77)
            #expect(result.errors.contains("kind ssh-ed25519, which only other programs open"))
            #expect(result.errors.contains("'age -d'"))
        }
        try place.write([UInt8]("-----BEGIN OPENSSH PRIVATE KEY-----\n".utf8), to: "ssh")
        let ssh = try place.shell("\"$migrate\" inspect archive.age --identity ssh")
        #expect(ssh.exitCode == 64 && ssh.errors.contains("SSH"), "\(ssh.errors)")
    }

    @Test(
        arguments: [
            ("--recipient age1abc", "the recipient is 'age1abc', but"),
            ("--recipient \(recipient) --passphrase-file passphrase", "not both"),
            ("--armor", "needs"),
            ("--recipient 'ssh-ed25519 AAAA'", "which only age supports"),
            ("--recipient \(identity)", "a secret key was given"),
            ("--recipients-file passphrase", "is not valid"),
            ("--passphrase-file source/Documents/none", "no passphrase"),
            ("--passphrase-file source/Documents/numbers", "more than one line"),
            ("--passphrase", "no terminal"),
        ]
    )
    func `wrong keys make no archive`(_ options: String, _ message: String) throws {
        let result = try place.shell(
            "setsid -w \"$migrate\" export --container source --out archive \(options)"
        )
        #expect(result.exitCode == 64, "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!result.errors.contains(Self.identity))
        #expect(!place.exists("archive"))
    }
}

extension String {
    fileprivate var isCache: Bool { hasPrefix("Library/Caches") }
}
