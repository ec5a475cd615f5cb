import Foundation
import TestSupport
import Testing

/// Keys of age beyond those of `age-keygen`: encrypted identity files, and plugins.
@Suite(.scratchDirectory) struct AgeKeyTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        try place.write([UInt8]("# a key\n\(EncryptionTests.identity)\n".utf8), to: "key")
        try place.write([UInt8]("correct horse battery\n".utf8), to: "passphrase")
        try place.write([UInt8]("wrong\n".utf8), to: "wrong")
    }

    private static let plugin = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/age-plugin-test").path

    @Test func `an identity file may be encrypted with a passphrase`() throws {
        // This program encrypts it, in the form that age reads.
        let result = try place.shell(
            """
            set -e
            mkdir keys && cp key keys/key
            "$migrate" export --container source --out archive --recipient \(EncryptionTests.recipient)
            python3 - <<'END'
            import pty, os, sys
            def answer(fd):
                return os.read(fd, 1024)
            child, fd = pty.fork()
            if child == 0:
                os.execvp("age", ["age", "-p", "-o", "key.age", "key"])
            for _ in range(2):
                while b":" not in os.read(fd, 1024): pass
                os.write(fd, b"correct horse battery\\n")
            while True:
                try:
                    if not os.read(fd, 1024): break
                except OSError: break
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            END
            "$migrate" inspect archive --identity key.age --passphrase-file passphrase
            "$migrate" import archive --container target --identity key.age --passphrase-file passphrase
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let wrong = try place.shell(
            "\"$migrate\" inspect archive --identity key.age --passphrase-file wrong"
        )
        #expect(wrong.exitCode == 77)
        #expect(wrong.errors.contains("does not open the identity file"), "\(wrong.errors)")
        let none = try place.shell("setsid -w \"$migrate\" inspect archive --identity key.age")
        #expect(none.exitCode == 64)
        #expect(none.errors.contains("no terminal"), "\(none.errors)")
    }

    /// Makes the plugin and its keys.
    private func makePlugin() throws -> String {
        let result = try place.shell(
            """
            mkdir bin && cp '\(Self.plugin)' bin/age-plugin-test
            bin/age-plugin-test | sed -n 1p >plugin-key
            bin/age-plugin-test | sed -n 2p
            """
        )
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `a plugin encrypts and opens an archive`() throws {
        let recipient = try makePlugin()
        let result = try place.shell(
            """
            export PATH="$PWD/bin:$PATH"
            "$migrate" export --container source --out archive --recipient \(recipient) &&
            "$migrate" import archive --container target --identity key --identity plugin-key
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(
            try place.tree("target")
                == place.tree("source").filter { !$0.key.hasPrefix("Library/Caches") }
        )
        let other = try place.shell(
            "PATH=\"$PWD/bin:$PATH\" \"$migrate\" inspect archive --identity key"
        )
        #expect(other.exitCode == 77, "\(other.errors)")
    }

    @Test func `an interrupted command doesn't wait for a plugin`() throws {
        let recipient = try makePlugin()
        let export = "export --container source --out archive --recipient \(recipient)"
        _ = try place.shell("PATH=\"$PWD/bin:$PATH\" \"$migrate\" \(export)")
        for command in [
            "\(export) --force", "inspect archive --identity plugin-key",
            "import archive --container target --identity plugin-key",
        ] {
            let result = try place.shell(
                """
                export PATH="$PWD/bin:$PATH" AGE_PLUGIN_TEST=hang
                start=$(date +%s); "$migrate" \(command) & migration=$!
                while ! pgrep -P $migration -f age-plugin-test >/dev/null; do sleep 0.05; done
                sleep 0.5; kill -TERM $migration; wait $migration; code=$?
                [ $(($(date +%s) - start)) -lt 15 ] || exit 1
                exit $code
                """
            )
            #expect(result.exitCode == 143, "\(command): \(result.errors)")
            #expect(result.errors == "migrate: interrupted\n")
        }
        #expect(!place.exists("target"))
    }

    @Test func `a plugin that misbehaves or is nowhere ends with its name`() throws {
        let recipient = try makePlugin()
        _ = try place.shell(
            "PATH=\"$PWD/bin:$PATH\" \"$migrate\" export --container source --out archive --recipient "
                + recipient
        )
        for (start, message) in [
            ("PATH=\"$PWD/bin:$PATH\" AGE_PLUGIN_TEST=error", "the key is not plugged in"),
            ("PATH=\"$PWD/bin:$PATH\" AGE_PLUGIN_TEST=flood", "sent more than"),
            // A directory of PATH that isn't absolute is not searched.
            ("PATH=\"bin:$PATH\"", "'age-plugin-test' of the key is in none of"),
        ] {
            let result = try place.shell(
                "\(start) \"$migrate\" inspect archive --identity plugin-key"
            )
            #expect(result.exitCode != 0)
            #expect(result.errors.contains(message), "\(result.errors)")
        }
        // Neither an archive nor a name with a slash names a program.
        try place.write([UInt8]("AGE-PLUGIN-../../BIN/X-1QQQQQQQQ\n".utf8), to: "forged")
        let forged = try place.shell("\"$migrate\" inspect archive --identity forged")
        #expect(forged.exitCode == 64, "\(forged.errors)")
        #expect(forged.errors.contains("not an identity as an age plugin writes it"))
    }
}
