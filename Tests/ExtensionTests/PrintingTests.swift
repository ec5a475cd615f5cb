import Foundation
import MigrationHosting
import TestSupport
import Testing

/// The output of an extension, which the person who runs the command sees.
@Suite(.scratchDirectory)
struct PrintingTests {
    @Test func `a line appears as soon as it is printed`() async throws {
        let stage = try Stage("say early\nwait go\nappend Documents as a")
        let lines = Lines()
        var scripted = stage.scripted()
        scripted.outputHandler = { line in
            lines.append(line)
            // The extension waits a minute for it, and then fails.
            try? (stage.source / "go").write("")
        }
        try await stage.export(scripted)
        #expect(lines.all == ["early"])
    }

    @Test(arguments: [
        "", "exit 3", "crash of a mistake", "kill 6", "kill 9", "kill 11", "kill 15",
        "throw Notes 1 no", "sleep-on 600000",
    ])
    func `what is printed without an end of line appears however the process ends`(
        _ end: String
    ) async throws {
        // A killed process can't write any more; this output had a moment to arrive.
        let pause = end == "kill 9" ? "sleep-on 2000\n" : ""
        let stage = try Stage(
            "append Documents as a\nsay one\nsay-on two and a half\n\(pause)\(end)"
        )
        let lines = Lines()
        var scripted = stage.scripted()
        if end.hasPrefix("sleep-on") { scripted.hangTimeout = .seconds(2) }
        scripted.outputHandler = { lines.append($0) }
        let hosted = scripted
        if end.isEmpty {
            try await stage.export(hosted)
        } else {
            _ = try await stage.failure(of: hosted)
        }
        #expect(lines.all.first == "one")
        #expect(lines.all.dropFirst().contains { $0.hasPrefix("two and a half") }, "\(lines.all)")
    }
}
