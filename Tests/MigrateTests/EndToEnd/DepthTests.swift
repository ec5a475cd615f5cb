import MigrationSystem
import TestSupport
import Testing

/// Trees that are deeper, and paths that are longer, than the system takes in one call.
@Suite(.scratchDirectory)
struct DepthTests {
    /// Makes `depth` directories one in another, with a file in the last one.
    private func makeLevels(_ depth: Int, named name: String, in place: Workplace) throws {
        try place.shell("mkdir source")
        let path = BytePath(place.path("source"))
        var directory = OpenFile(try FileDescriptor.open(path, .directory))
        let name = [UInt8](name.utf8)
        for _ in 0..<depth {
            try directory.descriptor.makeDirectory(name, permissions: 0o755)
            directory = OpenFile(try directory.descriptor.open(name, .directory))
        }
        _ = try directory.descriptor.open([UInt8]("leaf".utf8), .creating(permissions: 0o644))
    }

    @Test(arguments: [(40, 250, "40"), (300, 20, "300")])
    func `moves a tree whose paths are longer than the system takes`(
        _ depth: Int,
        _ length: Int,
        _ count: String
    ) throws {
        let place = try Workplace()
        let name = String(repeating: "n", count: length)
        try makeLevels(depth, named: name, in: place)
        let result = try place.shell(
            """
            $migrate export --container source --out archive &&
            $migrate import archive --container target >/dev/null &&
            $migrate diff archive --container target &&
            $migrate export --container target --out - 2>/dev/null | cmp - archive
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("1 file, \(count) directories"))
    }

    /// `Scripts/prove odd-container` tries it with 60,000 levels.
    @Test func `refuses a tree that is too deep for an archive, by name`() throws {
        let place = try Workplace()
        try makeLevels(257, named: String(repeating: "n", count: 255), in: place)
        let result = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive")
        )
        result.expectFailure(1)
        let message = ": can't be archived: the path is longer than 65,535 bytes: nnn"
        #expect(result.errors.contains(message), "\(result.errors.prefix(300))")
        #expect(try place.names() == ["source"])
    }

    @Test func `names a path that the system does not take`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let name = String(repeating: "n", count: 255)
        let long = place.path([String](repeating: name, count: 20).joined(separator: "/"))
        for words in [
            ["export", "--container", place.path("source"), "--out", "\(long)/archive"],
            ["export", "--container", "\(long)/source", "--out", place.path("out")],
            ["import", place.path("archive"), "--container", "\(long)/target"],
            ["extract", place.path("archive"), "--to", "\(long)/target"],
            ["verify", "\(long)/archive"], ["status", "--container", "\(long)/target"],
        ] {
            let result = try MigrateCommand.run(words)
            let code = try #require(result.exitCode)
            #expect([1, 73].contains(code), "\(words[0])")
            // If the parent is missing, the error may name it.
            #expect(result.errorLine?.contains(long) ?? false, "\(words[0]): \(result.errors)")
        }
        #expect(try place.names() == ["archive", "source"])
    }
}
