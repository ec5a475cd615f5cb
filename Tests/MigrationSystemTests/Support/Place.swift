import Foundation
import MigrationSystem
import TestSupport
import Testing

/// The scratch directory of the running test, open.
final class Place {
    let path: BytePath
    let directory: FileDescriptor

    init() throws {
        path = try BytePath.scratch
        directory = try FileDescriptor.open(path, .directory)
    }

    /// The path of `name` in the directory.
    func path(_ name: String) -> BytePath { path / BytePath(name) }

    /// Makes a file that holds `bytes`.
    func makeFile(_ name: [UInt8], _ bytes: [UInt8] = []) throws {
        let file = try directory.open(name, .creating(permissions: 0o600))
        try file.writeAll(bytes.span)
        try file.close()
    }

    func makeFile(_ name: String, _ bytes: [UInt8] = []) throws {
        try makeFile([UInt8](name.utf8), bytes)
    }

    /// The content of a file.
    func content(_ name: String) throws -> [UInt8]? {
        try directory.open([UInt8](name.utf8), .reading).readAll(limit: 1 << 20)
    }

    /// The names in the directory.
    func names() throws -> [[UInt8]] {
        let listing = try DirectoryListing(of: directory)
        return Array(listing)
    }
}

/// Calls `body`, which must fail with a system error; returns that.
func systemError(
    location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) -> SystemError? {
    #expect(throws: SystemError.self, sourceLocation: location, performing: body)
}
