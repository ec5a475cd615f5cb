import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct TreeRemovalTests {
    private let tree = [UInt8]("tree".utf8)

    private func makeTree() throws -> OpenFile {
        let place = try Place()
        try place.directory.makeDirectory(tree, permissions: 0o700)
        return OpenFile(try place.directory.open(tree, .directory))
    }

    @Test func `removes files, links, empty directories and odd names`() throws {
        let place = try Place()
        let root = try makeTree()
        try place.makeFile("kept", [1])
        for name: [UInt8] in [[0xFF], [0x0A], [0x2D, 0x72, 0x66], [0x2E, 0x2E, 0x2E], [0x20]] {
            try root.descriptor.makeDirectory(name, permissions: 0o700)
            let directory = try root.descriptor.open(name, .directory)
            _ = try directory.open([0x66], .creating(permissions: 0o000))
            try directory.makeSymbolicLink([0x6C], to: [UInt8]("../../kept".utf8))
            try directory.makeSymbolicLink([0x6D], to: [UInt8]("..".utf8))
            try directory.makeDirectory([0x65], permissions: 0o000)
        }
        try place.directory.removeTree(tree)
        #expect(try place.names() == [[UInt8]("kept".utf8)])
        #expect(try place.content("kept") == [1])
    }

    @Test func `removes a tree of 3,000 levels`() throws {
        let place = try Place()
        var directory = try makeTree()
        for _ in 0..<3000 {
            try directory.descriptor.makeDirectory([0x64], permissions: 0o700)
            directory = OpenFile(try directory.descriptor.open([0x64], .directory))
        }
        try place.directory.removeTree(tree)
        #expect(try place.names().isEmpty)
    }

    @Test func `removes wide and deep trees whose names look like its own`() throws {
        let place = try Place()
        let root = try makeTree()
        for number in 1...3 {
            let name = [UInt8](".removed-\(number)".utf8)
            try root.descriptor.makeDirectory(name, permissions: 0o700)
            var directory = OpenFile(try root.descriptor.open(name, .directory))
            for _ in 0..<70 {
                for sibling: UInt8 in [0x61, 0x62, 0x63] {
                    try directory.descriptor.makeDirectory([sibling], permissions: 0o700)
                    let inside = try directory.descriptor.open([sibling], .directory)
                    _ = try inside.open([0x66], .creating(permissions: 0o600))
                }
                directory = OpenFile(try directory.descriptor.open([0x62], .directory))
            }
        }
        try place.directory.removeTree(tree)
        #expect(try place.names().isEmpty)
    }

    @Test func `removes many directories that hold something`() throws {
        let place = try Place()
        let root = try makeTree()
        for number in 0..<500 {
            let name = [UInt8](String(number).utf8)
            try root.descriptor.makeDirectory(name, permissions: 0o700)
            let directory = try root.descriptor.open(name, .directory)
            try directory.makeDirectory([0x64], permissions: 0o700)
        }
        try place.directory.removeTree(tree)
        #expect(try place.names().isEmpty)
    }

    @Test func `opens up directories that forbid being listed or changed`() throws {
        let place = try Place()
        var directory = try makeTree()
        var opened: [OpenFile] = [directory]
        for _ in 0..<40 {
            _ = try directory.descriptor.open([0x66], .creating(permissions: 0o400))
            try directory.descriptor.makeDirectory([0x64], permissions: 0o700)
            directory = OpenFile(try directory.descriptor.open([0x64], .directory))
            opened.append(directory)
        }
        for (level, directory) in opened.enumerated() {
            try directory.descriptor.setPermissions([0o000, 0o500, 0o300, 0o444][level % 4])
        }
        try place.directory.removeTree(tree)
        #expect(try place.names().isEmpty)
    }

    @Test func `removes a file or a link in place of a tree, and nothing behind it`() throws {
        let place = try Place()
        try place.makeFile("f", [1])
        try place.directory.makeDirectory([0x64], permissions: 0o500)
        for target in ["f", "d", "missing"] {
            try place.directory.makeSymbolicLink(tree, to: [UInt8](target.utf8))
            try place.directory.removeTree(tree)
        }
        #expect(try place.content("f") == [1])
        #expect(try place.directory.status(of: [0x64]).permissions == 0o500)
        try place.directory.removeTree([0x66])
        #expect(try place.names() == [[0x64]])
    }

    @Test func `says that there is nothing to remove`() throws {
        let place = try Place()
        #expect(systemError { try place.directory.removeTree(tree) }?.isMissing == true)
    }
}
