import Foundation
import MigrationContract
import TestSupport
import Testing

@testable import MigrationContainers

/// Bookkeeping that no import wrote.
@Suite(.scratchDirectory)
struct UnsuitableFileTests {
    @Test(arguments: ["import-status.json", "import-journal.json"] as [BytePath])
    func `says what is there instead of a file`(_ name: BytePath) throws {
        let places = try Places()
        try places.makeOldDestination()
        let victim = places.root / "victim"
        let makers: [(String, (BytePath) throws -> Void)] = [
            ("it is a file with several names", { try $0.makeHardLink(to: victim) }),
            ("it is a symbolic link", { try $0.makeSymbolicLink(to: "../../victim") }),
            ("it is a FIFO, not a file", { try $0.makeFIFO() }),
            ("it is a directory, not a file", { try $0.makeDirectory() }),
        ]
        for (words, make) in makers {
            try victim.write("")
            try (places.destination / ".migration").makeDirectory()
            try make(places.destination / ".migration" / name)
            let container = try places.destinationContainer
            let error = #expect(throws: MigrationError.self) { try container.importRecord() }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
            _ = try ContainerRecovery.recover(container, discards: true)
            #expect(try container.importRecord() == nil)
            try victim.removeFile()
            try FileManager.default.removeItem(at: (places.destination / ".migration").url)
        }
    }
}
