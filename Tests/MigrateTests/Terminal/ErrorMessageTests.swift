import Foundation
import MigrationCore
import MigrationSystem
import Testing

@testable import migrate

struct ErrorMessageTests {
    private func text(of error: any Error) throws -> String {
        let words = ["status", "--container", "data/c"].map { [UInt8]($0.utf8) }
        guard case .command(let command) = try Invocation(words) else { return "" }
        return ErrorMessage(error, of: command.operation(endedBy: error)).description
    }

    @Test func `keeps what a program printed on lines that can't pass for messages`() throws {
        let error = MigrationError(
            .extensionCrashed,
            "Notes crashed",
            printedLines: ["migrate: error: \\x1B", "\u{1B}[1mbold"]
        )
        #expect(
            try text(of: error) == """
                status data/c: Notes crashed; it printed last:
                    migrate: error: \\x1B
                    \\x1B[1mbold
                """
        )
    }

    @Test func `shows an extension's own error in its words`() throws {
        let information = [NSLocalizedDescriptionKey: "the notes\nare locked"]
        let cause = NSError(domain: "Notes", code: 4, userInfo: information)
        let error = MigrationError(.extensionFailed, "Notes failed", cause: cause)
        #expect(
            try text(of: error)
                == "status data/c: Notes failed: the notes\n    are locked (Notes 4)"
        )
    }

    @Test(arguments: ["/tmp/data/c", "data/c"])
    func `names once what the command works on`(_ path: String) throws {
        let error = MigrationError(.containerInvalid, "no container", path: BytePath(path))
        #expect(try text(of: error) == "status: no container: \(path)")
    }
}
