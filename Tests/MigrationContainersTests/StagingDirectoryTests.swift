import Glibc
import MigrationContract
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers

@Suite(.scratchDirectory)
struct StagingDirectoryTests {
    private func name(_ container: [UInt8]) -> [UInt8] {
        let path = BytePath("/containers") / container
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

    @Test func `has no name that another container's name is made into`() {
        let long = [UInt8](repeating: UInt8(ascii: "n"), count: 240)
        let shortened = name(long).dropFirst().dropLast(".migration-staging".utf8.count)
        #expect(shortened.count == 236)
        #expect(name([UInt8](shortened)) != name(long))
    }

    /// An access control list for new files in a directory (acl(5)): its owner, user 1000, group,
    /// mask and others.
    private static let list: [UInt8] =
        [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [2, 0, 7, 0, 0xE8, 3, 0, 0]
        + [4, 0, 5, 0, 255, 255, 255, 255] + [16, 0, 7, 0, 255, 255, 255, 255]
        + [32, 0, 5, 0, 255, 255, 255, 255]

    @Test(arguments: ["", ".migration"] as [BytePath])
    func `hands down what the container does, not its bookkeeping`(_ place: BytePath) throws {
        let container = try BytePath.scratch / "container"
        try container.makeDirectory()
        try (container / ".migration").makeDirectory()
        let list = "system.posix_acl_default"
        guard try (container / place).setAttribute(list, Self.list) else {
            try Test.cancel("there are no access control lists here")
        }
        let path = try BytePath(resolving: container)
        let lock = try ContainerLock(ContainerPlace(path), for: .writing)
        defer { lock.release() }
        let staging = try StagingDirectory.make(for: lock, token: StagingToken())
        defer { staging.release() }
        let attribute = ExtendedAttribute(name: [UInt8](utf8: list), value: Self.list)
        let attributes = try staging.directory.descriptor.extendedAttributes()
        #expect(attributes == (place == "" ? [attribute] : []))
    }

    @Test func `has another name where something else has the first`() {
        let path = BytePath("/containers") / [UInt8](repeating: UInt8(ascii: "n"), count: 255)
        let names = [StagingToken(), StagingToken()].map {
            StagingDirectory.nameBeside(path, token: $0)
        }
        #expect(names[0] != names[1])
        #expect(names.allSatisfy { $0.count == 255 })
    }

    @Test(arguments: ["", "x", "../../etc", "container", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"])
    func `takes only what it made for a token`(_ text: String) {
        #expect(StagingToken(text) == nil)
        let token = StagingToken()
        #expect(StagingToken(token.text) == token)
    }

    @Test func `shows whose it is`() {
        let expected = [UInt8](".notes.migration-staging".utf8)
        #expect(name([UInt8]("notes".utf8)) == expected)
    }

    /// A container with its lock and its bookkeeping.
    private func makeContainer() throws -> (ContainerLock, BookkeepingDirectory) {
        let container = try BytePath.scratch / "container"
        try container.makeDirectory()
        let place = try ContainerPlace(BytePath(resolving: container))
        let lock = try ContainerLock(place, for: .writing)
        return (lock, try BookkeepingDirectory.make(in: lock.directory))
    }

    @Test(arguments: ["staged", "replaced"] as [BytePath])
    func `is left alone by others while it is in use`(_ name: BytePath) throws {
        let (lock, bookkeeping) = try makeContainer()
        defer { lock.release() }
        let left = lock.path / ".migration" / name
        try left.makeDirectory()
        try (left / "file").write("")
        let holder = try LockHolder(left, LOCK_EX)
        let error = #expect(throws: SystemError.self) {
            try StagingDirectory.removeLeftover(name.bytes, in: bookkeeping.openDirectory)
        }
        #expect(error?.isBusy == true)
        // Nobody needs to hear of it.
        var leftovers = Leftovers(of: lock.path)
        leftovers.remove(in: bookkeeping)
        #expect(leftovers.problems.isEmpty)
        #expect(try (lock.path / ".migration").names() == [name] && left.names() == ["file"])
        holder.release()
        leftovers.remove(in: bookkeeping)
        #expect(leftovers.problems.isEmpty && !left.exists)
    }

    /// If this process can open no more files, nobody knows whether there is a directory.
    @Test(arguments: [0, 1])
    func `is missing only where the system says so`(_ freeDescriptors: Int) async throws {
        let scratch = try BytePath.scratch.text
        await #expect(processExitsWith: .success) {
            [scratch = scratch as String, freeDescriptors = freeDescriptors as Int] in
            let path = BytePath(scratch) / "container"
            try path.makeDirectory()
            let lock = try ContainerLock(ContainerPlace(path), for: .writing)
            let token = StagingToken()
            let staging = try StagingDirectory.make(for: lock, token: token)
            let lowest = dup(0)
            close(lowest)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let former = limit.rlim_cur
            limit.rlim_cur = rlim_t(Int(lowest) + freeDescriptors)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let error = #expect(throws: SystemError.self) {
                if freeDescriptors == 0 {
                    try staging.remove()
                } else {
                    _ = try StagingDirectory.openHolder(of: token, beside: path)
                }
            }
            limit.rlim_cur = former
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(error?.isOfTooFewFiles == true)
            #expect(try StagingDirectory.openHolder(of: token, beside: path) != nil)
        }
    }
}
