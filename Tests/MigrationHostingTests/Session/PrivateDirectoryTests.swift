import Foundation
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct PrivateDirectoryTests {
    private let common: BytePath

    init() throws {
        common = try BytePath.scratch / "common"
        try common.makeDirectory()
    }

    /// A name of the form that such directories have.
    private var name: BytePath {
        "migration-private-\(UUID().uuidString)"
    }

    @Test func `is removed with its last reference`() throws {
        do {
            let directory = try PrivateDirectory(in: common)
            try (directory.path / "some").makeDirectory()
            #expect(try common.names().count == 1)
            withExtendedLifetime(directory) {}
        }
        #expect(try common.names() == [])
    }

    @Test func `removes what a killed process left`() async throws {
        let path = common.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let directory = try PrivateDirectory(in: BytePath(path))
            try Data("secret".utf8).write(to: directory.url.appending(path: "copy"))
            kill(getpid(), SIGKILL)
            withExtendedLifetime(directory) {}
        }
        let left = try common.names()
        #expect(left.count == 1)
        let next = try PrivateDirectory(in: common)
        #expect(try common.names().count == 1)
        #expect(try common.names() != left)
        withExtendedLifetime(next) {}
    }

    @Test func `leaves alone one that is used`() throws {
        let first = try PrivateDirectory(in: common)
        let second = try PrivateDirectory(in: common)
        #expect(try common.names().count == 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `leaves alone what it can't have made`() throws {
        try (common / "migration-private-").makeDirectory()
        try (common / "migration-private-1").makeDirectory()
        let lowercase = "migration-private-\(UUID().uuidString.lowercased())"
        try (common / BytePath(lowercase)).makeDirectory()
        let open = common / name
        try open.makeDirectory()
        try open.setMode(0o755)
        try (common / name).write("a file")
        try (common / "kept").makeDirectory()
        try (common / name).makeSymbolicLink(to: common / "kept")
        let before = try common.names()
        let directory = try PrivateDirectory(in: common)
        #expect(try Set(common.names()).isSuperset(of: before))
        withExtendedLifetime(directory) {}
    }

    /// A user who may rename other people's files can give them any name.
    @Test(arguments: [(0o777, true), (0o1777, false), (0o755, false)] as [(mode_t, Bool)])
    func `removes nothing where others may rename it`(_ mode: mode_t, _ stays: Bool) throws {
        let left = common / name
        try left.makeDirectory()
        try left.setMode(0o700)
        try common.setMode(mode)
        let directory = try PrivateDirectory(in: common)
        #expect(left.exists == stays)
        withExtendedLifetime(directory) {}
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func `leaves alone another user's`() throws {
        let other = common / name
        try other.makeDirectory()
        try #require(chown(other.url.path, 65534, 65534) == 0)
        let directory = try PrivateDirectory(in: common)
        #expect(other.exists)
        withExtendedLifetime(directory) {}
    }
}
