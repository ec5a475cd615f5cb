import Foundation
import MigrationArchive
import MigrationCore
import Testing
import TestSupport

/// An archive that goes through a pipe, as from one machine to another.
@Suite(.scratchDirectory)
struct PipedArchiveTests {
    @Test(arguments: [1, 3, 19])
    func `imports from a pipe what was exported at any level`(_ level: Int) async throws {
        let scratch = try #require(ScratchDirectory.current)
        let old = try MigrationDataContainer(at: scratch.appending(path: "old"))
        let new = try MigrationDataContainer(at: scratch.appending(path: "new"))
        try FileManager.default.createDirectory(
            at: old.containerRootDirectory,
            withIntermediateDirectories: true
        )
        // More than one frame, and more content than zstd's window at most levels.
        let content = Data(repeating: 7, count: 5 << 20)
        try content.write(to: old.containerRootDirectory.appending(path: "file"))
        let archive = scratch.appending(path: "archive")
        var options = ExportOptions()
        options.compressionLevel = level
        let exported = try await MigrationHost()
            .export(old, to: .file(archive), options: options)
        let pipe = Pipe()
        let sender = Process()
        sender.executableURL = URL(filePath: "/bin/cat")
        sender.arguments = [archive.path]
        sender.standardOutput = pipe
        try sender.run()
        let input = ArchiveSource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        let imported = try await MigrationHost().import(input, into: new)
        sender.waitUntilExit()
        #expect(exported.fingerprint == imported.fingerprint)
        #expect(try Data(contentsOf: new.containerRootDirectory.appending(path: "file")) == content)
    }
}
