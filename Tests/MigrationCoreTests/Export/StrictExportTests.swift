import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct StrictExportTests {
    private func strictExport(_ places: Places, _ change: (inout ExportOptions) -> Void = { _ in })
        async throws -> ExportReport
    {
        var options = ExportOptions()
        options.isStrict = true
        change(&options)
        return try await places.exportSource(options: options)
    }

    private func expectRefusal(_ places: Places, of thing: String, at path: String) async throws {
        let error = await #expect(throws: ArchiveError.self) {
            _ = try await strictExport(places)
        }
        #expect(error?.code == .unrepresentable)
        #expect(error?.entry == EntryPath(path))
        #expect(error?.message.hasSuffix(": \(thing)") ?? false, "\(error?.message ?? "")")
        #expect(try places.root.names() == ["source"])
    }

    @Test(arguments: ["fifo", "socket"])
    func `refuses special files`(_ kind: String) async throws {
        let places = try Places()
        try (places.source / "d").makeDirectory()
        let path = places.source / "d/special"
        try kind == "fifo" ? path.makeFIFO() : path.makeSocket()
        try await expectRefusal(places, of: "a \(kind)", at: "d/special")
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root may set attributes outside user.*"),
        arguments: [false, true]
    )
    func `refuses attributes that an archive does not hold`(_ isDirectory: Bool) async throws {
        let places = try Places()
        let item = places.source / "item"
        if isDirectory { try item.makeDirectory() } else { try item.write("content") }
        try item.setAttribute("trusted.secret", [1])
        try await expectRefusal(places, of: "the attribute trusted.secret", at: "item")
    }

    @Test func `refuses access control lists`() async throws {
        let places = try Places()
        let file = places.source / "file"
        try file.write("content")
        // Version 2; the owner, one user, the group, the mask and the others (acl(5), xattr form).
        let entries: [(UInt8, UInt8, UInt32)] = [
            (1, 6, .max), (2, 4, 1234), (4, 4, .max), (16, 4, .max), (32, 0, .max),
        ]
        var list: [UInt8] = [2, 0, 0, 0]
        for (tag, permissions, identifier) in entries {
            list += [tag, 0, permissions, 0]
            list += (0..<4).map { UInt8(truncatingIfNeeded: identifier >> (8 * $0)) }
        }
        guard try file.setAttribute("system.posix_acl_access", list) else {
            try Test.cancel("the file system has no access control lists")
        }
        let report = try await places.exportSource()
        #expect(report.omissions.items.map(\.detail) == ["system.posix_acl_access"])
        try places.archive.removeFile()
        let thing = "the attribute system.posix_acl_access"
        try await expectRefusal(places, of: thing, at: "file")
        let held = try await strictExport(places) { $0.extraMetadata = .accessLists }
        #expect(held.omissions.count == 0)
        #expect(held.header.extraMetadata == .accessLists)
    }

    @Test func `archives what an archive holds, and leaves out what was to be left out`()
        async throws
    {
        let places = try Places()
        try VariedTree.make(in: places.source)
        try (places.source / "tmp").makeDirectory()
        try (places.source / "tmp/fifo").makeFIFO()
        try (places.source / "left.sock").makeSocket()
        let pattern = try PathPattern("*.sock")
        let report = try await strictExport(places) { $0.exclusions = [pattern] }
        #expect(report.omissions.items.map(\.path) == ["left.sock", "tmp"])
    }

    @Test func `keeps an archive that is there when it fails`() async throws {
        let places = try Places()
        try (places.source / "fifo").makeFIFO()
        try places.archive.write("an older archive")
        var options = ExportOptions()
        options.isStrict = true
        await #expect(throws: ArchiveError.self) {
            try await places.exportSource(options: options, replacing: true)
        }
        #expect(try places.archive.contents() == Data("an older archive".utf8))
    }
}
