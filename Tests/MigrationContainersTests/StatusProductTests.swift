import Foundation
import MigrationContract
import TestSupport
import Testing

@testable import MigrationContainers
@testable import MigrationSystem

/// An app that links the product MigrationStatus alone.
@Suite(.scratchDirectory)
struct StatusProductTests {
    private let program = Bundle.main.bundleURL.appending(path: "StatusReader")

    @Test func `links no library of the engine`() throws {
        let file = try FileDescriptor.openFollowingLinks(BytePath(program.path), .reading)
        let image = try #require(try LinkedImage(file))
        let names = image.libraries.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(names.contains { $0.hasPrefix("libc.so") })
        for library in ["libzstd", "libcrypto", "libxxhash", "libz.so", "libsqlite3"] {
            #expect(!names.contains { $0.hasPrefix(library) }, "\(names)")
        }
    }

    @Test func `reads and clears the status, and undoes an import that was cut off`() throws {
        let container = try BytePath.scratch
        let bookkeeping = try BookkeepingDirectory.make(
            in: OpenFile(FileDescriptor.open(container, .directory))
        )
        let journal = ImportJournal(phase: .staging, record: nil, staging: StagingToken().text)
        try journal.write(to: bookkeeping)
        #expect(try ask(container) == "failure: the import was interrupted\n")
        #expect(try !bookkeeping.has(BookkeepingDirectory.journalName))
        #expect(try ask(container) == "none\n")
    }

    private func ask(_ container: BytePath) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.environment = ["MIGRATION_CONTAINER": container.url.path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }
}
