import Foundation
import TestSupport
import Testing

/// The small files that a command line names, if they are pipes, large, or named like another file.
@Suite(.scratchDirectory)
struct SmallFileTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/Documents && echo text > source/Documents/file && mkfifo fifo &&
            echo "x ssh-ed25519 AAAA" > signers && truncate -s 1G large && : > empty.xml &&
            "$migrate" export --container source --bundle-id a.b --out archive &&
            cp archive archive.sig
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    /// Command lines that read the small file `@`, and how an error names it.
    private static let uses = [
        ("verify archive --identity @", "the file of '--identity'"),
        ("verify archive --passphrase-file @", "the file of '--passphrase-file'"),
        ("export -c source --out o --recipients-file @", "the file of '--recipients-file'"),
        ("export --container source --out o --activity @", "the file of '--activity'"),
        ("export --container source --out o --exclude-from @", "the file of '--exclude-from'"),
        ("verify archive --allowed-signers @ --signer x", "the file of signers"),
        ("import archive --container c --allowed-signers @ --signer x", "the file of signers"),
        ("verify archive --allowed-signers signers --signature @ --signer x", "the signature"),
        ("sign archive --signature s --key @", "the key"),
        ("android lint @", "the file"),
        ("android lint empty.xml --manifest @", "the file of '--manifest'"),
        ("android manifest @", "the file"),
        ("android convert archive --out o --password-file @", "the file of '--password-file'"),
        ("report archive --out page --session @", "the file of '--session'"),
    ]

    @Test(arguments: uses.map(\.0))
    func `a signal ends the wait for a pipe`(_ use: String) throws {
        let words = use.replacing("@", with: "fifo")
        let result = try place.shell(
            """
            timeout -s KILL 60 "$migrate" \(words) & exec 3>fifo; kill -TERM $!; wait $!; echo $?
            ls -d c o s page
            """
        )
        #expect(result.output == "143\n", "\(use): \(result.output) \(result.errors)")
    }

    @Test(arguments: uses)
    func `a large file is refused by its name`(_ use: String, _ name: String) throws {
        let words = use.replacing("@", with: "large")
        let result = try place.shell("\"$migrate\" \(words)")
        #expect((1...77).contains(result.exitCode ?? 0), "\(use): \(result.errors)")
        let message = ": \(name) can't be read: large: it is larger than "
        #expect(result.errors.contains(message), "\(use): \(result.errors)")
    }

    @Test func `a pipe to which nobody listens is refused as a file of results`() throws {
        let result = try place.shell(
            "timeout -s KILL 60 \"$migrate\" export --container source --out o --result fifo"
        )
        #expect(result.exitCode == 73, "\(result.errors)")
        #expect(!place.exists("o"))
    }

    @Test func `an identity that the environment names is found by its bytes`() throws {
        let result = try place.shell(
            """
            echo '\(EncryptionTests.identity)' > "$(printf 'key\\377')"
            echo other > "$(printf 'key\\357\\277\\275')"
            "$migrate" export --container source --out sealed --recipient \\
                \(EncryptionTests.recipient) &&
            MIGRATE_IDENTITY=$(printf 'key\\377') "$migrate" verify sealed
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test(arguments: [
        "preflight --container /x --extension ./e", "preflight --container /x --extension e",
        "preflight --container /x --extension /e --entitlements e",
        "preflight --container /x --extension /e --group g=e",
        "preflight --container /x --extension /e --grant g=e",
        "store check --store e", "store upgrade --store e --plan /bin/true",
    ])
    func `no path that a URL would change is taken for that of another file`(
        _ words: String
    ) throws {
        let result = try place.shell(
            """
            mkdir "$(printf 'd\\357\\277\\275')" "$(printf 'd\\377')"
            echo '{"version": 1}' | tee "$(printf 'd\\357\\277\\275/e')" > "$(printf 'd\\377/e')"
            cd "$(printf 'd\\377')" && "$migrate" \(words)
            """
        )
        #expect([1, 64].contains(result.exitCode), "\(result.errors)")
        #expect(result.errors.contains("not valid UTF-8"), "\(result.errors)")
    }
}
