import Foundation
import MigrationArchive
import MigrationContract
import MigrationSystem
import Testing

@testable import MigrationConversation

/// An error on its way between a host and an extension's process.
struct CarriedErrorTests {
    private func carried(_ error: any Error) throws -> any Error {
        let data = try JSONEncoder().encode(CarriedError(error))
        return try JSONDecoder().decode(CarriedError.self, from: data).carried
    }

    @Test(arguments: ["a\nb", "a\\b", "\u{202E}a", "a"])
    func `comes with its path as it was`(_ text: String) throws {
        let bytes = [UInt8](text.utf8) + [0xE9]
        let error = MigrationError(.outsideContainer, "lies outside", path: BytePath(bytes))
        #expect(try "\(carried(error))" == "\(error)")
        let ofArchive = ArchiveError(.refused, "is refused", entry: EntryPath(bytes: bytes))
        #expect(try (carried(ofArchive) as? ArchiveError)?.entry == ofArchive.entry)
    }

    @Test func `is cut where its path or text is endless`() throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "p"), count: 900_000)
        let text = String(repeating: "t", count: 900_000)
        for error: any Error in [
            MigrationError(.outsideContainer, text, path: BytePath(bytes)),
            ArchiveError(.refused, text, entry: EntryPath(bytes: bytes)),
        ] {
            let text = try "\(carried(error))"
            #expect(text.utf8.count < 25_000)
            #expect(text.hasSuffix("…"))
        }
    }
}
