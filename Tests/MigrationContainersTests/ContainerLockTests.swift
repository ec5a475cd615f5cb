import Glibc
import MigrationContract
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers

@Suite(.scratchDirectory)
struct ContainerLockTests {
    private static let uses: [ContainerLock.Use] = [.app, .reading, .writing]

    private func lock(_ path: BytePath, for use: ContainerLock.Use) throws -> ContainerLock {
        try ContainerLock(ContainerPlace(path), for: use)
    }

    @Test(arguments: uses, uses)
    func `lets apps share with apps and readers with readers`(
        _ first: ContainerLock.Use,
        _ second: ContainerLock.Use
    ) throws {
        let places = try Places()
        let holder = try lock(places.source, for: first)
        if first == second, first != .writing {
            let other = try lock(places.source, for: second)
            // If the first holder releases the lock, the other still has it.
            holder.release()
            for use in Self.uses where use != second {
                #expect(throws: MigrationError.self) { try lock(places.source, for: use) }
            }
            other.release()
        } else {
            let error = #expect(throws: MigrationError.self) {
                try lock(places.source, for: second)
            }
            #expect(error?.code == .containerBusy)
            holder.release()
        }
        try lock(places.source, for: second).release()
    }

    @Test func `says where no container can be locked`() throws {
        let places = try Places()
        try places.archive.write("")
        for (path, message) in [
            (places.destination, "there is no container"),
            (places.archive, "the container is a file or a link, not a directory"),
        ] {
            let error = #expect(throws: MigrationError.self) { try lock(path, for: .reading) }
            #expect(error?.code == .containerInvalid && error?.message == message)
        }
    }

    @Test(arguments: [0, 60])
    func `says how long it waited, if it did`(_ milliseconds: Int) throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.source)
        let holder = try LockHolder(places.source, LOCK_EX)
        let count = Monitor(0)
        let wait = LockWait(limit: .milliseconds(milliseconds)) { _ in count.withLock { $0 += 1 } }
        let error = #expect(throws: MigrationError.self) { try wait.lockForWriting(container) }
        holder.release()
        #expect(error?.code == .containerBusy)
        let isLate = error?.message.hasSuffix(", even after waiting 60ms")
        #expect(isLate == (milliseconds > 0))
        #expect(error?.message.contains("even after") == (milliseconds > 0))
        #expect(count.withLock { $0 } == (milliseconds > 0 ? 1 : 0))
    }

    @Test func `waits for nothing but the lock`() throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.destination)
        let count = Monitor(0)
        let wait = LockWait(limit: .seconds(1)) { _ in count.withLock { $0 += 1 } }
        let error = #expect(throws: MigrationError.self) { try wait.lockForWriting(container) }
        #expect(error?.message == "there is no container" && count.withLock { $0 } == 0)
    }

    @Test func `queues behind an operation of this process, however short its limit is`() throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.source)
        let holder = Monitor<ContainerLock?>(try lock(places.source, for: .writing))
        let wait = LockWait(limit: .zero, queues: true) { _ in
            holder.withLock {
                $0?.release(); $0 = nil
            }
        }
        try wait.lockForReading(container).release()
        #expect(holder.withLock { $0 == nil })
    }
}
