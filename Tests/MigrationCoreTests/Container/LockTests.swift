import Foundation
import Glibc
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers
@testable import MigrationCore

@Suite(.scratchDirectory)
struct LockTests {
    private static let uses: [ContainerLock.Use] = [.app, .reading, .writing]

    private func lock(_ path: BytePath, for use: ContainerLock.Use) throws -> ContainerLock {
        try ContainerLock(ContainerPlace(path), for: use)
    }

    @Test func `locks the directory at the path while imports exchange it`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        let path = places.destination
        let imports = Task {
            var host = MigrationHost()
            host.waitLimit = .seconds(1_800)
            var options = ImportOptions()
            options.replacesExisting = true
            for _ in 0..<12 {
                _ = try await host.import(
                    .file(path: places.archive),
                    into: places.destinationContainer,
                    options: options
                )
            }
        }
        let isOver = Monitor(false)
        let end = Task {
            defer { isOver.withLock { $0 = true } }
            try await imports.value
        }
        var count = 0
        while !isOver.withLock({ $0 }) || count == 0 {
            do {
                let held = try lock(path, for: count.isMultiple(of: 2) ? .app : .reading)
                for _ in 0..<3 {
                    let present = try FileDescriptor.status(atPath: path).identity
                    #expect(try held.root.descriptor.status().identity == present)
                    try await Task.sleep(for: .milliseconds(1))
                }
                held.release()
                count += 1
            } catch let error as MigrationError {
                #expect(error.code == .containerBusy, "\(error)")
            }
            await Task.yield()
        }
        try await end.value
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    @Test(arguments: [ContainerLock.Use.app, .writing])
    func `refuses an export while the container is in use`(
        _ use: ContainerLock.Use
    ) async throws {
        let places = try Places()
        let holder = try lock(places.source, for: use)
        let error = await #expect(throws: MigrationError.self) { try await places.exportSource() }
        #expect(error?.code == .containerBusy)
        #expect(try places.root.names() == ["source"])
        holder.release()
        try await places.exportSource()
    }

    @Test(arguments: uses)
    func `refuses an import while the container is in use`(
        _ use: ContainerLock.Use
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let holder = try lock(places.destination, for: use)
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(error?.code == .containerBusy)
        #expect(try TreeSnapshot(of: places.destination).differences(from: old) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
        holder.release()
        try await places.importArchive(replacing: true)
    }

    @Test func `lets others read while it exports, but nothing else`() async throws {
        let places = try Places()
        try (places.source / "file").write("content")
        let mutator = Mutator {
            #expect(throws: CallFailure.self) { try LockHolder(asAppOf: places.source) }
            #expect(throws: CallFailure.self) { try LockHolder(places.source, LOCK_EX) }
            let reader = try? ContainerLock(
                ContainerPlace(places.source),
                for: .reading
            )
            #expect(reader != nil)
            reader?.release()
        }
        try await places.exportSource(progress: mutator)
        #expect(mutator.hasRun)
        try LockHolder(places.source, LOCK_EX).release()
    }

    @Test func `holds the container alone while it imports`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        let mutator = Mutator {
            #expect(throws: CallFailure.self) { try LockHolder(places.destination, LOCK_SH) }
        }
        try await places.importArchive(progress: mutator)
        #expect(mutator.hasRun)
        try LockHolder(places.destination, LOCK_EX).release()
    }

    @Test func `compares while others read, not while an app or an import runs`() async throws {
        let places = try await Places.withSmallArchive()
        let container = try MigrationDataContainer(atPath: places.source)
        let source = ArchiveSource.file(path: places.archive)
        for use in Self.uses {
            let holder = try lock(places.source, for: use)
            do {
                #expect(try await source.compare(with: container) { _ in } == 0)
                #expect(use == .reading)
            } catch let error as MigrationError {
                #expect(error.code == .containerBusy)
                #expect(use != .reading)
            }
            holder.release()
        }
    }

    @Test func `takes a lock whose holder died`() async throws {
        let places = try Places()
        let holder = Process()
        holder.executableURL = URL(filePath: "/usr/bin/flock")
        let script = "echo locked; exec sleep 9999"
        holder.arguments = ["-n", "-x", "-F", places.source.url.path, "sh", "-c", script]
        let output = Pipe()
        holder.standardOutput = output
        try holder.run()
        defer { holder.terminate() }
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
        let error = await #expect(throws: MigrationError.self) { try await places.exportSource() }
        #expect(error?.code == .containerBusy)
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        #expect(holder.terminationReason == .uncaughtSignal)
        try await places.exportSource()
    }

    @Test func `is busy while the staging directory is in use, and records nothing`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let staging = places.root / ".destination.migration-staging"
        try staging.makeDirectory()
        try (staging / places.stagingToken(ofNewRecord: true)).write("")
        let holder = try LockHolder(staging, LOCK_EX)
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(error?.code == .containerBusy)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.destinationContainer.importRecord()?.outcome == .interrupted)
        holder.release()
        try await places.importArchive(replacing: true)
        #expect(!staging.exists)
    }

    @Test(arguments: [false, true])
    func `lets one of several imports at once win`(_ replaces: Bool) async throws {
        let places = try await Places.withVariedArchive()
        let outcomes = await withTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        try await places.importArchive(replacing: replaces)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.contains { $0 == nil })
        for case let error? in outcomes {
            let code = (error as? MigrationError)?.code
            #expect(code == .containerBusy || !replaces && code == .containerHoldsData, "\(error)")
        }
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }
    /// A host that waits as long as it takes; `onWait` is called when it begins to wait.
    private static func patientHost(onWait: @escaping @Sendable () -> Void = {}) -> MigrationHost {
        var host = MigrationHost()
        host.waitLimit = .seconds(1_800)
        host.waitHandler = { reason in
            #expect(reason.code == .containerBusy)
            #expect(reason.message.contains("\(getpid())"))
            onWait()
        }
        return host
    }

    @Test func `exports one container several times at once`() async throws {
        let places = try Places()
        try (places.source / "zeros").write("")
        try (places.source / "zeros").truncate(to: 9 << 20)
        let container = try MigrationDataContainer(atPath: places.source)
        let prints = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...4 {
                group.addTask {
                    try await MigrationHost().export(
                        container,
                        to: .file(
                            path: places.root / "\(number)",
                            replacesExisting: false
                        )
                    ).fingerprint.description
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(prints.count == 1)
        #expect(try places.root.names() == ["1", "2", "3", "4", "source"])
    }

    @Test(arguments: [ContainerLock.Use.app, .writing])
    func `waits until the container is free`(_ use: ContainerLock.Use) async throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.source)
        let holder = Monitor<ContainerLock?>(try lock(places.source, for: use))
        let host = Self.patientHost {
            holder.withLock {
                $0?.release(); $0 = nil
            }
        }
        let archive = ArchiveDestination.file(path: places.archive, replacesExisting: false)
        _ = try await host.export(container, to: archive)
        #expect(holder.withLock { $0 == nil })
    }

    @Test func `waits for a staging directory that is in use`() async throws {
        let places = try await Places.withSmallArchive()
        let staging = places.root / ".destination.migration-staging"
        try staging.makeDirectory()
        let holder = Monitor<LockHolder?>(try LockHolder(staging, LOCK_EX))
        var host = MigrationHost()
        host.waitLimit = .seconds(1_800)
        host.waitHandler = { _ in holder.withLock { $0 = nil } }
        _ = try await host.import(
            .file(path: places.archive),
            into: places.destinationContainer
        )
        #expect(try places.contents(of: places.destination).nodes.count == 4)
    }

    @Test func `ends its wait when it is cancelled, and when it was long enough`() async throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.source)
        let holder = try LockHolder(places.source, LOCK_EX)
        let (waits, continuation) = AsyncStream.makeStream(of: Void.self)
        let host = Self.patientHost { continuation.finish() }
        let task = Task {
            try await host.export(container, to: .descriptor(-1))
        }
        for await _ in waits {}
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        var hasty = MigrationHost()
        hasty.waitLimit = .milliseconds(200)
        let error = await #expect(throws: MigrationError.self) {
            _ = try await hasty.export(container, to: .descriptor(-1))
        }
        #expect(error?.code == .containerBusy)
        #expect(
            error?.message
                == "the container is in use by this process, \(getpid()), itself, even after waiting 200ms"
        )
        holder.release()
    }
}
