import Foundation
import TestSupport
import Testing

/// Signatures over archives, made and checked by `ssh-keygen`.
@Suite(.scratchDirectory, .enabled(if: Machine.has("ssh-keygen"), "ssh-keygen is not installed"))
struct SigningTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        let made = try place.shell(
            """
            for name in key other; do ssh-keygen -q -t ed25519 -N '' -f $name || exit 1; done
            echo "me@example.com $(cat key.pub)" > signers
            echo "me@example.com $(cat other.pub)" > others
            echo "me@example.com valid-before=\\"20200101\\" $(cat key.pub)" > expired
            echo "me@example.com namespaces=\\"git\\" $(cat key.pub)" > git
            "$migrate" export --container source --out archive --sign-key key
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    private static let required = "--allowed-signers signers --signer me@example.com"

    @Test func `says who signed, also of the same archive encrypted`() throws {
        let result = try place.shell("\"$migrate\" verify archive \(Self.required)")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("signature for me@example.com with ED25519 key SHA256:"))
        try place.write([UInt8]("\(EncryptionTests.identity)\n".utf8), to: "identity")
        let encrypted = try place.shell(
            """
            "$migrate" export --container source --out archive.age --recipient \\
                \(EncryptionTests.recipient) &&
            "$migrate" verify archive.age --identity identity --signature archive.sig \\
                \(Self.required) --json
            """
        )
        #expect(encrypted.exitCode == 0, "\(encrypted.errors)")
        #expect(encrypted.output.contains("\"signature\" : \"Good"))
    }

    @Test func `sign makes the signature that an export makes`() throws {
        let result = try place.shell(
            """
            mv archive.sig one && "$migrate" sign archive --key key &&
            "$migrate" sign archive --key key.pub --signature two 2>/dev/null;
            cmp one archive.sig && ! "$migrate" sign archive --key key
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.contains("already exists: "))
        #expect(result.errors.contains("use --force to replace it"))
    }

    @Test func `imports what is signed, from a file and from a pipe`() throws {
        for (name, source) in [("one", "archive"), ("two", "- --signature archive.sig <archive")] {
            let result = try place.shell(
                "\"$migrate\" import \(source) --container \(name) \(Self.required)"
            )
            #expect(result.exitCode == 0, "\(result.errors)")
            #expect(try place.tree(name)["Documents/numbers"] != nil)
        }
    }

    @Test func `an archive without a signature is refused where one is required`() throws {
        let ways = [
            ("--require-signature \(Self.required)", Int32(77), "the signature can't be read"),
            ("--require-signature", 64, "option '--require-signature' needs option '--signer'"),
            (
                "--require-signature --signer me@example.com", 64,
                "option '--signer' needs option '--allowed-signers'"
            ),
        ]
        try place.shell("\"$migrate\" import archive --container c && mv archive.sig kept")
        let before = try place.tree("c")
        for (options, code, message) in ways {
            let result = try place.shell(
                "\"$migrate\" import archive --container c --replace \(options)"
            )
            #expect(result.exitCode == code, "\(options): \(result.errors)")
            #expect(result.errors.contains(message), "\(options): \(result.errors)")
            #expect(try place.tree("c") == before)
        }
        let skipped = try place.shell(
            "\"$migrate\" import archive -c c --skip-if-imported --require-signature \(Self.required)"
        )
        #expect(skipped.exitCode == 77, "\(skipped.output)\(skipped.errors)")
        let stream = try place.shell(
            """
            "$migrate" import - -c c --skip-if-imported --signature kept \(Self.required) \
                --expect "$("$migrate" fingerprint -c source)" <archive
            """
        )
        #expect(stream.exitCode == 64, "\(stream.errors)")
        let signed = try place.shell(
            """
            mv kept archive.sig &&
            "$migrate" import archive -c c --skip-if-imported --require-signature \(Self.required) &&
            "$migrate" import archive --container c --replace --require-signature \(Self.required)
            """
        )
        #expect(signed.exitCode == 0, "\(signed.errors)")
    }

    @Test(
        arguments: [
            ("another archive", "cp new archive", "incorrect signature"),
            ("another key", "cp others signers", "Could not verify"),
            ("an expired signer", "cp expired signers", "expired"),
            ("a signer of something else", "cp git signers", "Could not verify"),
            ("an unknown signer", "echo you@example.com $(cat key.pub) > signers", "Could not"),
            (
                "another's signature", "\"$migrate\" sign new --key key && cp new.sig archive.sig",
                "incorrect"
            ),
            ("a damaged signature", "echo x > archive.sig", "Couldn't parse signature"),
            ("no signature", "rm archive.sig", "the signature can't be read"),
            ("no signers", "rm signers", "the file of signers can't be read"),
            (
                "signed for git", "printf x | ssh-keygen -Y sign -f key -n git > archive.sig",
                "namespace"
            ),
        ]
    )
    func `refuses, before the container changes`(
        _ name: String,
        _ change: String,
        _ message: String
    ) throws {
        let prepared = try place.shell(
            """
            "$migrate" import archive --container c && echo more > source/Documents/numbers &&
            "$migrate" export --container source --out new && { \(change); }
            """
        )
        try #require(prepared.exitCode == 0, "\(prepared.errors)")
        let before = try place.tree("c")
        for source in ["archive", "- --signature archive.sig <archive"] {
            let result = try place.shell(
                "\"$migrate\" import \(source) --container c --replace \(Self.required)"
            )
            #expect(result.exitCode == 77, "\(name): \(result.errors)")
            #expect(result.errors.contains(message), "\(name): \(result.errors)")
            #expect(try place.tree("c") == before)
        }
        let verified = try place.shell("\"$migrate\" verify archive \(Self.required)")
        #expect(verified.exitCode == 77, "\(name): \(verified.errors)")
    }

    @Test func `names what is wrong with ssh-keygen or the key`() throws {
        let ways = [
            ("PATH=/nowhere", "ssh-keygen, which signs archives, is missing"),
            ("PATH=\"$PWD\"", "too old to sign"),
            ("", "can't sign with this key"),
        ]
        // Written by another process: a child that a test has just forked would keep the file open for
        // writing, and the system starts no such program.
        try place.shell(
            """
            printf '#!/bin/sh\\necho "unknown option -- Y" >&2; exit 1\\n' > ssh-keygen
            chmod +x ssh-keygen
            """
        )
        for (setting, message) in ways {
            let key = setting.isEmpty ? "signers" : "key"
            let result = try place.shell(
                "\(setting) \"$migrate\" sign archive --key \(key) --signature s"
            )
            #expect(result.exitCode == 1, "\(message): \(result.errors)")
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(!place.exists("s"))
        }
        let usage = try place.shell("\"$migrate\" export --container source --out - --sign-key key")
        #expect(usage.exitCode == 64)
    }

    @Test func `takes the files that are named, to the byte`() throws {
        let result = try place.shell(
            """
            cp signers "$(printf 'list\\357\\277\\275')" && cp others "$(printf 'list\\377')"
            "$migrate" verify archive --allowed-signers "$(printf 'list\\377')" \\
                --signer me@example.com; echo $?
            cp archive.sig "$(printf 'sig\\357\\277\\275')" && echo x > "$(printf 'sig\\377')"
            "$migrate" verify archive --signature "$(printf 'sig\\377')" \(Self.required); echo $?
            mv key "$(printf 'key\\377')" && mv other "$(printf 'key\\357\\277\\275')"
            "$migrate" sign archive --key "$(printf 'key\\377')" --force >/dev/null &&
            "$migrate" verify archive \(Self.required) >/dev/null; echo $?
            """
        )
        #expect(result.output == "77\n77\n0\n", "\(result.output) \(result.errors)")
    }

    @Test func `takes pipes for the signature, the signers and the key`() throws {
        let result = try place.shell(
            """
            bash -c '"$migrate" sign archive --key <(cat key) --signature piped >/dev/null &&
            "$migrate" import archive --container c --signature <(cat piped) \\
                --allowed-signers <(cat signers) --signer me@example.com'
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test(arguments: ["KILL", "TERM"])
    func `ssh-keygen ends with the command that waits for it`(_ signal: String) throws {
        let result = try place.shell(
            """
            mkfifo started; mkdir bin
            printf '#!/bin/sh\\necho $$ > started; exec sleep 1000\\n' > bin/ssh-keygen
            chmod +x bin/ssh-keygen
            PATH=$PWD/bin:$PATH "$migrate" verify archive \(Self.required) &
            read child < started; kill -\(signal) $!; wait $!; echo $?
            timeout 60 tail -s 0.05 --pid=$child -f /dev/null; echo $?
            """
        )
        let code = signal == "KILL" ? 137 : 143
        #expect(result.output == "\(code)\n0\n", "\(result.errors)")
    }

    @Test(arguments: [14, 17, 20])
    func `says that too few files may be open`(_ limit: Int) throws {
        for use in ["sign archive --key key --force", "verify archive \(Self.required)"] {
            let result = try place.shell("ulimit -n \(limit); \"$migrate\" \(use)")
            #expect([0, 71].contains(result.exitCode), "\(limit): \(result.errors)")
            #expect(result.exitCode == 0 || result.errors.contains("Too many open files"))
        }
    }
}
