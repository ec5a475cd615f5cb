import Foundation
import MigrationContract
import MigrationSystem
import Testing

struct MigrationErrorTests {
    private let error = MigrationError(
        .containerInvalid,
        "the container can't be read",
        path: "/srv/a\u{1B}",
        cause: MigrationError(.interrupted, "the import was interrupted")
    )

    @Test func `has a localized description with the path and the cause`() {
        let text = "the container can't be read: /srv/a\\x1B: the import was interrupted"
        #expect(error.localizedDescription == text)
        #expect((error as NSError).localizedDescription == text)
        #expect((error as any LocalizedError).errorDescription == text)
    }

    @Test func `keeps its domain and the number of its code as an NSError`() {
        let bridged = error as NSError
        #expect(bridged.domain == "MigrationCore.MigrationError")
        #expect(bridged.code == 3)
    }

    @Test func `ends with what an extension printed last`() {
        let error = MigrationError(.extensionFailed, "it failed", printedLines: ["a", "b"])
        #expect(error.description == "it failed; it printed last:\na\nb")
        #expect(MigrationError(.extensionFailed, "it failed").description == "it failed")
    }
}
