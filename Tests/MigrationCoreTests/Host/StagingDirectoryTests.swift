import MigrationSystem
import Testing

@testable import MigrationCore

struct StagingDirectoryTests {
    private func name(_ container: [UInt8]) -> [UInt8] {
        let path = PathName(parent: [UInt8]("/containers".utf8), name: container)
        return StagingDirectory.nameBeside(path)
    }

    @Test(arguments: [236, 237, 255])
    func `has a name for each container, however long its name is`(_ count: Int) {
        let first = [UInt8](repeating: UInt8(ascii: "n"), count: count)
        var second = first
        second[count - 1] = UInt8(ascii: "m")
        #expect(name(first) != name(second))
        #expect(name(first).count == 255)
        #expect(name(first) == name(first))
    }

    @Test func `shows whose it is`() {
        let expected = [UInt8](".notes.migration-staging".utf8)
        #expect(name([UInt8]("notes".utf8)) == expected)
    }
}
