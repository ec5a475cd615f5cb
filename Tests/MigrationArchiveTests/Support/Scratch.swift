import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// The scratch directory of the running test, by bytes.
enum Scratch {
    /// The path of `name` in the scratch directory.
    static func path(_ name: String) throws -> BytePath {
        try BytePath.scratch / BytePath(name)
    }

    /// A path in the scratch directory that nothing has yet.
    static func newPath() throws -> BytePath { try path(UUID().uuidString) }

    /// Writes `bytes` into a new file and opens it for reading.
    static func file(holding bytes: [UInt8]) throws -> FileDescriptor {
        let path = try newPath()
        let writer = try FileDescriptor.open(path, .creating(permissions: 0o600))
        try writer.writeAll(bytes.span)
        return try FileDescriptor.open(path, .reading)
    }

    /// Writes `bytes` into a new file and opens it as an archive.
    static func input(holding bytes: [UInt8]) throws -> ArchiveInput {
        try ArchiveInput(reading: file(holding: bytes), on: MigrationOperation())
    }

    /// Makes a pipe that holds `bytes`, which must be few, and then ends.
    static func pipe(holding bytes: [UInt8]) throws -> FileDescriptor {
        precondition(bytes.count <= 64 * 1024)
        var ends: [CInt] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        let writer = FileDescriptor(adopting: ends[1])
        let reader = FileDescriptor(adopting: ends[0])
        try writer.writeAll(bytes.span)
        try writer.close()
        return reader
    }

    /// Runs a shell command with `arguments` as `$0`, `$1`...; returns its exit code and output.
    static func shell(_ command: String, _ arguments: String...) throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Whether every one of `tools` is installed.
    static func has(_ tools: String...) -> Bool {
        tools.allSatisfy { tool in
            ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains {
                FileManager.default.isExecutableFile(atPath: $0 + tool)
            }
        }
    }
}
