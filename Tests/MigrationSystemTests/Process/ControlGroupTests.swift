import Foundation
import TestSupport
import Testing

@testable import MigrationSystem

@Suite(.scratchDirectory)
struct ControlGroupTests {
    private static let mounts = """
        22 1 0:20 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
        23 1 0:21 / /sys/fs/cgroup rw,nosuid shared:10 master:2 - cgroup2 cgroup2 rw
        """

    private func places(_ groups: String, _ mounts: String = mounts) -> [String] {
        ControlGroup.places(ownGroups: groups, mounts: mounts)
            .map(\.text)
    }

    @Test func `looks from the cgroup of this process up to the root of the hierarchy`() {
        let places = places("4:memory:/other\n0::/user.slice/app.slice/one.scope\n")
        #expect(
            places == [
                "/sys/fs/cgroup/user.slice/app.slice/one.scope",
                "/sys/fs/cgroup/user.slice/app.slice",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup",
            ]
        )
        #expect(self.places("0::/\n") == ["/sys/fs/cgroup"])
    }

    @Test func `sees only what is mounted of the hierarchy`() {
        let mounts = "23 1 0:21 /box /cg rw - cgroup2 cgroup2 rw"
        #expect(places("0::/box/inner\n", mounts) == ["/cg/inner", "/cg"])
        #expect(places("0::/boxer\n", mounts) == [])
        #expect(places("0::/../outside\n") == [])
    }

    @Test func `finds none without a hierarchy of version 2`() {
        #expect(places("4:memory:/\n") == [])
        #expect(places("0::/\n", "22 1 0:20 / /cg rw - cgroup cgroup rw") == [])
        #expect(places("", "") == [])
    }

    @Test func `counts the processors that the strictest cgroup grants, rounded up`() throws {
        let outer = try #require(ScratchDirectory.current).path + "/outer"
        let inner = outer + "/inner"
        try FileManager.default.createDirectory(
            atPath: inner,
            withIntermediateDirectories: true
        )
        let places = [BytePath(inner), BytePath(outer)]
        #expect(ControlGroup.processorLimit(at: places) == nil)
        try "max 100000\n".write(toFile: inner + "/cpu.max", atomically: false, encoding: .utf8)
        #expect(ControlGroup.processorLimit(at: places) == nil)
        try "250000 100000\n".write(toFile: outer + "/cpu.max", atomically: false, encoding: .utf8)
        #expect(ControlGroup.processorLimit(at: places) == 3)
        try "20000 100000\n".write(toFile: inner + "/cpu.max", atomically: false, encoding: .utf8)
        #expect(ControlGroup.processorLimit(at: places) == 1)
        try "nonsense\n".write(toFile: inner + "/cpu.max", atomically: false, encoding: .utf8)
        #expect(ControlGroup.processorLimit(at: places) == 3)
    }

    @Test(.enabled(if: ScratchGroup.isPossible, "no cgroup of version 2 can be made here"))
    func `puts a program and what it starts in it, and goes with them`() throws {
        let scratch = try ScratchGroup()
        let group = try scratch.makeGroup()
        var program = TestProgram("cat /proc/self/cgroup; sh -c 'cat /proc/self/cgroup'")
        program.group = group
        let lines = try program.run().output.split(separator: "\n")
            .filter { $0.hasPrefix("0::") && $0.contains("/migration-\(getpid())-") }
        #expect(lines.count == 2)
        #expect(Set(lines).count == 1)
        #expect(try scratch.names().count == 1)
        group.remove()
        #expect(try scratch.names() == [])
    }

    @Test(.enabled(if: ScratchGroup.isPossible, "no cgroup of version 2 can be made here"))
    func `removes what a process that is gone left, and nothing else`() throws {
        let scratch = try ScratchGroup()
        // No process has a number this high.
        try scratch.make("migration-2000000000-1")
        try scratch.make("migration-\(getpid())-1")
        try scratch.make("other")
        let group = try scratch.makeGroup()
        let names = try scratch.names()
        #expect(names.count == 3)
        #expect(names.contains("other"))
        #expect(!names.contains("migration-2000000000-1"))
        withExtendedLifetime(group) {}
    }

    @Test(.enabled(if: ScratchGroup.isPossible, "no cgroup of version 2 can be made here"))
    func `makes none that lacks a limit which it was to have`() throws {
        let scratch = try ScratchGroup()
        // No controller is delegated to cgroups made here.
        #expect(throws: SystemError.self) {
            try ControlGroup(in: scratch.path, ControlGroup.Limits(memory: 1 << 30, tasks: nil))
        }
        #expect(try scratch.names() == [])
    }

    @Test(
        .enabled(
            if: ControlGroup.make(both)?.limits == both,
            "no cgroup of version 2 here has the controllers memory and pids"
        )
    )
    func `ends a program that takes too much memory, and refuses it too many processes`() throws {
        var program = TestProgram("perl -e '$text = qq(x) x 200_000_000; print length $text'")
        let small: ControlGroup = try #require(ControlGroup.make(Self.both))
        program.group = small
        #expect(try program.run().ending != .exited(0))
        #expect(small.memoryKills > 0)
        program = TestProgram("for n in $(seq 50); do sleep 600 & done; kill $(jobs -p)")
        let narrow: ControlGroup = try #require(ControlGroup.make(Self.both))
        program.group = narrow
        #expect(try program.run().ending != .exited(0))
        #expect(narrow.refusedTasks > 0)
    }

    private static let both = ControlGroup.Limits(memory: 64 << 20, tasks: 20)
}

/// A cgroup of a test's own, in which it makes others.
private final class ScratchGroup {
    private static var root: BytePath? {
        let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
        return ControlGroup.places(ownGroups: "0::/", mounts: mounts).first
    }

    static var isPossible: Bool { (try? ScratchGroup()) != nil }

    let path: BytePath

    init() throws {
        path = try #require(Self.root) / "tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path.text,
            withIntermediateDirectories: false
        )
    }

    deinit {
        for name in (try? names()) ?? [] { rmdir(place(name)) }
        rmdir(path.text)
    }

    func makeGroup() throws -> ControlGroup {
        try ControlGroup(in: path, ControlGroup.Limits(memory: nil, tasks: nil))
    }

    func make(_ name: String) throws {
        try #require(mkdir(place(name), 0o755) == 0)
    }

    /// The cgroups in it.
    func names() throws -> [String] {
        let listing = try DirectoryListing(of: FileDescriptor.open(path, .directory))
        return
            try listing
            .filter {
                try FileDescriptor.status(atPath: path / $0).kind
                    == .directory
            }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func place(_ name: String) -> String {
        path.text + "/" + name
    }
}
