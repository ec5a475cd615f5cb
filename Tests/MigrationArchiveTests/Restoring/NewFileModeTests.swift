import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct NewFileModeTests {
    /// The modes of the files that an archive with one file of every mode in `modes` leaves.
    private func restoredModes(
        _ modes: [UInt16],
        attributes: [ExtendedAttribute] = []
    ) throws -> [UInt16] {
        let items = modes.map { mode in
            Item(.file("f\(mode)", permissions: mode, attributes: attributes))
        }
        let extraction = try Extraction(TestArchive(items))
        return try modes.map { try extraction.status("f\($0)").permissions }
    }

    @Test func `restores every mode, whatever the process's mask is`() throws {
        let modes = Array(UInt16(0)...0o777)
        #expect(try restoredModes(modes) == modes)
    }

    @Test func `restores attributes of files that nobody may write`() throws {
        let attribute = ExtendedAttribute(name: [UInt8]("user.a".utf8), value: [1])
        #expect(try restoredModes([0o444, 0], attributes: [attribute]) == [0o444, 0])
    }

    @Test func `grants what a new file gets, and no more`() throws {
        let directory = try FileDescriptor.open(Scratch.path("."), .directory)
        let mode = NewFileMode(in: directory)
        for permissions in UInt16(0)...0o777 where mode.grants(permissions) {
            let name = [UInt8]("f\(permissions)".utf8)
            let made = try directory.open(name, .creating(permissions: permissions))
            #expect(try made.status().permissions == permissions)
        }
    }

    @Test(.enabled(if: Scratch.has("setfacl")))
    func `heeds a directory's default access list`() throws {
        let path = try Scratch.path(".").text
        let (code, _) = try Scratch.shell("setfacl -d -m u::rw,g::-,o::- \"$0\"", path)
        // Not every file system has such lists.
        guard code == 0 else { return }
        let directory = try FileDescriptor.open(Scratch.path("."), .directory)
        #expect(!NewFileMode(in: directory).grants(0o644))
        #expect(try restoredModes([0o644, 0o777]) == [0o644, 0o777])
    }

    @Test func `grants nothing where nobody can tell`() throws {
        let file = try Scratch.file(holding: [1])
        let mode = NewFileMode(in: file)
        #expect(!mode.grants(0o600) && !mode.grants(0))
    }
}
