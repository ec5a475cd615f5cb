import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct FileDescriptorTests {
    private let name: [UInt8] = [0x61, 0xFF]
    private let other: [UInt8] = [0x62]

    @Test func `never opens a link`() throws {
        let place = try Place()
        try place.makeFile(name)
        try place.directory.makeSymbolicLink(other, to: name)
        #expect(
            systemError { _ = try place.directory.open(other, .reading) }?.isNotDirectory == true
        )
        #expect(
            systemError { _ = try place.directory.open(other, .directory) }?.isNotDirectory == true
        )
        let creating = systemError {
            _ = try place.directory.open(other, .creating(permissions: 0o600))
        }
        #expect(creating?.isExisting == true)
        let link = place.path / other
        #expect(throws: Never.self) { _ = try FileDescriptor.openFollowingLinks(link, .reading) }
    }

    @Test func `follows no link on the way to a file beneath a directory`() throws {
        let place = try Place()
        try place.directory.makeDirectory(name, permissions: 0o700)
        try place.directory.makeSymbolicLink(other, to: name)
        let file = [UInt8](utf8: "/file")
        let creating = FileDescriptor.Access.creating(permissions: 0o640)
        _ = try place.directory.openBeneathWithoutLinks((name + file)[...], creating)
        let directory = try place.directory.open(name, .directory)
        #expect(try directory.status(of: [UInt8](utf8: "file")).permissions == 0o640)
        for path in [other + file, other] {
            let error = systemError {
                _ = try place.directory.openBeneathWithoutLinks(path[...], .reading)
            }
            #expect(error?.isNotDirectory == true)
        }
        for path in [[UInt8](utf8: "../file"), [UInt8](utf8: "/tmp/file")] {
            let error = systemError {
                _ = try place.directory.openBeneathWithoutLinks(path[...], creating)
            }
            #expect(error?.isCrossDevice == true)
        }
    }

    @Test func `creates a file only where nothing is`() throws {
        let place = try Place()
        try place.makeFile(name)
        let error = systemError { try place.makeFile(name) }
        #expect(error?.isExisting == true)
        #expect(error?.call == "open")
    }

    @Test func `says what is missing`() throws {
        let place = try Place()
        let directory = place.path
        let operations: [(String, (borrowing FileDescriptor) throws -> Void)] = [
            ("open", { _ = try $0.open([0x7A], .reading) }),
            ("lstat", { _ = try $0.status(of: [0x7A]) }),
            ("unlink", { try $0.removeFile([0x7A]) }),
            ("rmdir", { try $0.removeDirectory([0x7A]) }),
            ("readlink", { _ = try $0.symbolicLinkTarget([0x7A]) }),
            ("rename", { try $0.rename([0x7A], to: [0x79], in: $0) }),
            ("renameat2", { try $0.renameExclusively([0x7A], to: [0x79], in: $0) }),
            ("renameat2", { try $0.exchange([0x7A], with: [0x79], in: $0) }),
            ("link", { try $0.makeHardLink([0x79], to: [0x7A], in: $0) }),
            ("fchmodat", { try $0.setPermissions(0o600, of: [0x7A]) }),
            ("utimensat", { try $0.setModificationTime(FileTime(seconds: 0), of: [0x7A]) }),
        ]
        for (call, operation) in operations {
            let error = systemError {
                try operation(try FileDescriptor.open(directory, .directory))
            }
            #expect(error?.isMissing == true, "\(call)")
            #expect(error?.call == call)
        }
        #expect(SystemError("open", code: 2).description == "No such file or directory (open)")
    }

    @Test func `says what is in the way`() throws {
        let place = try Place()
        try place.directory.makeDirectory(name, permissions: 0o700)
        try place.makeFile(other)
        #expect(
            systemError { try place.directory.makeDirectory(name, permissions: 0o700) }?.isExisting
                == true
        )
        #expect(
            systemError { try place.directory.makeSymbolicLink(other, to: name) }?.isExisting
                == true
        )
        let link = systemError {
            try place.directory.makeHardLink(name, to: other, in: place.directory)
        }
        #expect(link?.isExisting == true)
        let exclusive = systemError {
            try place.directory.renameExclusively(other, to: name, in: place.directory)
        }
        #expect(exclusive?.isExisting == true)
        let inside = try place.directory.open(name, .directory)
        _ = try inside.open(other, .creating(permissions: 0o600))
        #expect(systemError { try place.directory.removeDirectory(name) }?.isNotEmpty == true)
        #expect(systemError { try place.directory.removeDirectory(other) }?.isNotDirectory == true)
    }

    @Test func `never changes the mode of what a link leads to`() throws {
        let place = try Place()
        try place.makeFile(name)
        try place.directory.setPermissions(0o640, of: name)
        try place.directory.makeSymbolicLink(other, to: name)
        #expect(systemError { try place.directory.setPermissions(0o777, of: other) } != nil)
        #expect(try place.directory.status(of: name).permissions == 0o640)
    }

    @Test func `sets the time of a link and not of what it leads to`() throws {
        let place = try Place()
        try place.makeFile(name)
        try place.directory.makeSymbolicLink(other, to: name)
        let (early, late) = (
            FileTime(seconds: 7, nanoseconds: 8), FileTime(seconds: 2_000_000_000, nanoseconds: 1)
        )
        try place.directory.setModificationTime(early, of: name)
        try place.directory.setModificationTime(late, of: other)
        #expect(try place.directory.status(of: name).modificationTime == early)
        #expect(try place.directory.status(of: other).modificationTime == late)
    }

    @Test(arguments: [1, 255, 256, 257, 1023, 1024, 4095])
    func `reads links of any length`(_ count: Int) throws {
        let place = try Place()
        let target = (0..<count).map { UInt8($0 % 255) + 1 }
        try place.directory.makeSymbolicLink(name, to: target)
        #expect(try place.directory.symbolicLinkTarget(name) == target)
    }

    @Test func `makes further names of links themselves`() throws {
        let place = try Place()
        try place.directory.makeSymbolicLink(name, to: [0x78])
        try place.directory.makeHardLink(other, to: name, in: place.directory)
        #expect(try place.directory.status(of: other).kind == .symbolicLink)
        #expect(try place.directory.status(of: other).linkCount == 2)
    }

    @Test func `reads and writes at any place`() throws {
        let place = try Place()
        let file = try place.directory.open(name, .creating(permissions: 0o600))
        let bytes: [UInt8] = [1, 2, 3]
        try file.writeAll(bytes.span, at: 4)
        try file.setSize(10)
        #expect(try file.readAll(limit: 10) == [0, 0, 0, 0, 1, 2, 3, 0, 0, 0])
        #expect(try file.readAll(limit: 9) == nil)
        var buffer = [UInt8](repeating: 9, count: 4)
        #expect(try file.read(at: 5, into: &buffer, from: 1, count: 2) == 2)
        #expect(buffer == [9, 2, 3, 9])
        #expect(try file.read(at: 10, into: &buffer, count: 4) == 0)
    }

    @Test func `writes what lies in many pieces`() throws {
        let place = try Place()
        let bytes = [UInt8](VariedTree.noise(100_000))
        let file = try place.directory.open(name, .creating(permissions: 0o600))
        try bytes.withUnsafeBytes { bytes in
            // More of them than one call takes, empty ones among them.
            let pieces = (0..<2000).map { number in
                UnsafeRawBufferPointer(rebasing: bytes[number * 50..<number * 50 + number % 51])
            }
            try file.writeAll(gathering: pieces)
        }
        let expected = (0..<2000).flatMap { bytes[$0 * 50..<$0 * 50 + $0 % 51] }
        #expect(try file.readAll(limit: 1 << 20) == expected)
    }

    @Test func `opens a file that has no name`() throws {
        let place = try Place()
        let file = try place.directory.openUnnamed()
        let bytes: [UInt8] = [5]
        try file.writeAll(bytes.span)
        #expect(try file.readAll(limit: 1) == [5])
        #expect(try place.names().isEmpty)
    }

    @Test func `exchanges two directories in one step`() throws {
        let place = try Place()
        try place.directory.makeDirectory(name, permissions: 0o700)
        try place.directory.makeDirectory(other, permissions: 0o755)
        let identity = try place.directory.status(of: name).identity
        do {
            try place.directory.exchange(name, with: other, in: place.directory)
        } catch  where error.isExchangeImpossible {
            return
        }
        #expect(try place.directory.status(of: other).identity == identity)
    }
}
