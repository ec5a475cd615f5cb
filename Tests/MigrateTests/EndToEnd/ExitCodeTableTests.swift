import Foundation
import TestSupport
import Testing

@testable import migrate

/// The table of exit codes in the documentation, by running the program.
@Suite(.scratchDirectory)
struct ExitCodeTableTests {
    private static let scripts = [
        ("0", "$migrate verify archive && $migrate diff archive --container source"),
        ("1", "$migrate verify missing"),
        ("1", "echo more > source/Documents/more; $migrate diff archive --container source"),
        ("2", "$migrate diff missing --container source"),
        (
            "3",
            "mkdir app; head -c 400 archive | $migrate import - --container app --bundle-id source;"
                + "$migrate status --container app"
        ),
        (
            "4",
            #"mkdir -p app/.migration; echo '{"phase":"staging","version":1}' "#
                + "> app/.migration/import-journal.json; $migrate status --container app"
        ),
        ("5", "mkdir app; $migrate status --container app"),
        ("64", "$migrate export --container source"),
        ("65", "seq 999 > bad; $migrate verify bad"),
        ("71", "ulimit -n 6; $migrate verify archive"),
        ("73", "$migrate export --container source --out archive"),
        ("73", "mkdir app; echo > app/data; $migrate import archive --container app"),
        ("73", "mkdir out; echo > out/Documents; $migrate extract archive --to out"),
        ("74", "$migrate export --container source --out-command 'cat > /dev/null; false'"),
        (
            "75",
            "$migrate run --container source -- $migrate export --container source --out again"
        ),
        (
            "77",
            "echo secret > pass; $migrate export --container source --out sealed "
                + "--passphrase-file pass && $migrate verify sealed"
        ),
        ("126", "echo > plain; $migrate run --container source -- ./plain"),
        ("127", "$migrate run --container source -- ./missing"),
        ("128 + n", "$migrate run --container source -- sh -c 'kill -TERM $$'"),
    ]

    @Test(arguments: scripts)
    func `ends with the code`(_ code: String, _ script: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let result = try place.shell(script + "; code=$?; echo; echo code $code")
        let expected = code == "128 + n" ? "143" : code
        let last = result.output.split(separator: "\n").last
        #expect(last == "code \(expected)", "\(result.output)\(result.errors)")
    }

    @Test func `documents the codes that are tested here`() throws {
        let codes = try documentedRows().map(\.code)
        #expect(codes == Self.scripts.map(\.0).reduce(into: []) { if $0.last != $1 { $0 += [$1] } })
    }

    @Test func `gives the manual the meanings that the documentation gives`() throws {
        let meanings = ExitCode.meanings.map { "\($0.code): \($0.meaning): \($0.retry)" }
        let rows = try documentedRows().map {
            "\($0.code): \($0.meaning.replacing("`", with: "'")): \($0.retry)"
        }
        #expect(meanings == rows)
    }

    private func documentedRows() throws -> [(code: String, meaning: String, retry: String)] {
        let articles = "../../../Sources/MigrationCore/MigrationCore.docc"
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: articles + "/using-migrate-in-scripts.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.split(separator: "### Exit codes\n").last)
        return section.split(separator: "\n")
            .drop { !$0.hasPrefix("|---") }
            .dropFirst()
            .prefix { $0.hasPrefix("| ") }
            .map { row in
                let cells = row.split(separator: "|").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                return (cells[0], cells[1], cells[2])
            }
    }
}
