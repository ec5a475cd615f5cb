import Foundation
import Glibc
import MigrationCore
import TestSupport
import Testing

/// Makes calls of the real command fail: of every kind, the one in the middle.
///
/// `make torture` tries all of them.
@Suite(.scratchDirectory, .injectingFaults)
struct FaultTests {
    enum Fault: CaseIterable {
        case inputOutputError, fullDisk, interruptions, halves

        /// The calls that may fail; `nil` for all.
        private var calls: Set<String>? {
            switch self {
            case .inputOutputError: nil
            case .fullDisk:
                [
                    "fchmod", "fsetxattr", "fsync", "ftruncate", "linkat", "mkdirat", "pwrite64",
                    "renameat", "renameat2", "symlinkat", "syncfs", "write", "writev",
                ]
            case .interruptions:
                [
                    "fcntl", "ftruncate", "openat", "openat2", "pread64", "pwrite64", "read",
                    "write", "writev",
                ]
            case .halves: ["pread64", "pwrite64", "read", "write", "writev"]
            }
        }

        var mustBeSurvived: Bool { self == .interruptions || self == .halves }

        /// The text that the error must contain.
        var reason: String { self == .fullDisk ? "No space left" : "Input/output error" }

        /// The points to try, for these counts of calls.
        func points(_ counts: [String: Int]) -> [(name: Comment, injector: FaultInjector)] {
            counts.sorted { $0.key < $1.key }.compactMap { call, count in
                guard calls?.contains(call) ?? true else { return nil }
                let number = (count + 1) / 2
                let injector =
                    switch self {
                    case .inputOutputError: FaultInjector(.error(EIO), at: call, number...number)
                    case .fullDisk: FaultInjector(.error(ENOSPC), at: call, number...Int(Int32.max))
                    case .interruptions: FaultInjector(.error(EINTR), at: call, number...number + 3)
                    case .halves: FaultInjector(.half, at: call, 1...Int(Int32.max))
                    }
                return ("\(call) \(number)", injector)
            }
        }

        /// Expects a success if there must be one, and otherwise a failure that says why.
        func expectEnd(of run: FaultInjector.Run, at point: Comment) {
            if run.end == .exited(0) { return }
            #expect(!mustBeSurvived, point)
            #expect([1, 65, 73].map { .exited($0) }.contains(run.end), point)
            // Only a run that can't write to standard error may fail silently.
            if run.errors.isEmpty, point.rawValue.hasPrefix("write") { return }
            #expect(run.errors.hasPrefix("migrate: error: "), point)
            #expect(run.errors.contains(reason), point)
        }
    }

    /// Makes an archive, and counts the calls of an import of it that replaces data.
    private func counted(
        _ withoutExchange: Bool
    ) async throws -> (places: Places, new: TreeSnapshot, counts: [String: Int]) {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        let whole = try places.runImport(
            injector: FaultInjector(.nothing),
            withoutExchange: withoutExchange
        )
        return (places, try TreeSnapshot(of: places.source), whole.counts)
    }

    @Test(arguments: Fault.allCases, [false, true])
    func `leaves the old container or the new one, and says which`(
        _ fault: Fault,
        _ withoutExchange: Bool
    ) async throws {
        let (places, new, counts) = try await counted(withoutExchange)
        let points = fault.points(counts)
        #expect(points.count >= 4)
        for (point, injector) in points {
            try places.removeDestination()
            let old = try places.makeOldDestination()
            let run = try places.runImport(
                injector: injector,
                withoutExchange: withoutExchange
            )
            fault.expectEnd(of: run, at: point)
            let outcome = try await places.expectOldOrNew(old, new, at: point)
            #expect(run.end != .exited(0) || outcome == .success, point)
        }
    }

    /// The calls that make, check and synchronize a commit; any of them may fail.
    @Test(arguments: ["fsync", "newfstatat", "renameat", "renameat2", "unlinkat"], [false, true])
    func `says that it failed only where nothing was committed`(
        _ call: String,
        _ withoutExchange: Bool
    ) async throws {
        let (places, new, counts) = try await counted(withoutExchange)
        for number in Thoroughness.places(1...max(1, counts[call] ?? 0)) {
            let point: Comment = "\(call) \(number)"
            try places.removeDestination()
            let old = try places.makeOldDestination()
            let run = try places.runImport(
                injector: FaultInjector(.error(EIO), at: call, number...number),
                withoutExchange: withoutExchange
            )
            let isCutOff = try places.bookkeepingNames().contains("import-journal.json")
            let outcome = try await places.expectOldOrNew(old, new, at: point)
            #expect((run.end == .exited(0)) == (outcome == .success) || isCutOff, point)
        }
    }

    /// Kills a commit while the old data is moved aside, and while the new data is moved in.
    @Test(arguments: [5, 7])
    func `undoes a commit that was cut off where there is no room for it`(
        _ number: Int
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let killed = try places.runImport(
            injector: FaultInjector(.death, at: "renameat2", number...number),
            withoutExchange: true
        )
        #expect(killed.end == .killed)
        let phase = number == 5 ? "clearing" : "filling"
        let journal = try (places.destination / ".migration/import-journal.json").contents()
        #expect(String(decoding: journal, as: UTF8.self).contains(phase))
        let next = try FaultInjector(.error(ENOSPC), at: "renameat2", 1...1).run(
            ["status", "--container", places.destination.url.path],
            countingFrom: places.root.url.path
        )
        #expect(next.faults == 1)
        #expect(next.end == .exited(4), "\(next.errors)")
        #expect(try await places.expectOldOrNew(old, old, at: "\(phase)") == .interrupted)
    }

    /// An import has succeeded when its commit is done, whatever is still to be removed.
    @Test(arguments: [false, true])
    func `succeeds where what it replaced can't be removed`(
        _ withoutExchange: Bool
    ) async throws {
        let (places, new, counts) = try await counted(withoutExchange)
        let count = try #require(counts["unlinkat"])
        var warnings = 0
        for number in Thoroughness.places(1...count) {
            let point: Comment = "unlinkat \(number)"
            try places.removeDestination()
            let old = try places.makeOldDestination()
            let forEver = number...Int(Int32.max)
            let run = try places.runImport(
                injector: FaultInjector(.error(EBUSY), at: "unlinkat", forEver),
                withoutExchange: withoutExchange
            )
            let contents = try places.contents(of: places.destination)
            if try !places.bookkeepingNames().contains("import-journal.json") {
                let isNew = contents.differences(from: new) == []
                #expect((run.end == .exited(0)) == isNew, point)
            }
            let warning = "migrate: warning: a leftover of an import can't be removed: "
            if run.end == .exited(0), run.errors.hasPrefix(warning) { warnings += 1 }
            let status = try FaultInjector(.error(EBUSY), at: "unlinkat", forEver).run(
                ["status", "--container", places.destination.url.path],
                countingFrom: places.root.url.path
            )
            if run.end == .exited(0) { #expect(status.end == .exited(0), point) }
            _ = try await places.expectOldOrNew(old, new, at: point)
        }
        #expect(warnings >= 2)
    }

    @Test(arguments: Fault.allCases)
    func `leaves a whole archive or none`(_ fault: Fault) async throws {
        let places = try await Places.withSmallArchive()
        let output = places.root / "output"
        let counts = try places.runExport(to: output, injector: FaultInjector(.nothing)).counts
        let whole = try output.contents()
        let points = fault.points(counts)
        #expect(points.count >= 2)
        for (point, injector) in points {
            try output.removeFile()
            let run = try places.runExport(to: output, injector: injector)
            fault.expectEnd(of: run, at: point)
            #expect(run.end != .exited(0) || output.exists, point)
            // A call that fails forever may prevent the cleanup.
            let left = fault == .fullDisk ? [] : try places.root.names()
            #expect(!left.contains("output.partial"), point)
            if output.exists { #expect(try output.contents() == whole, point) }
            try await places.exportSource(to: output, replacing: true)
            #expect(try output.contents() == whole, point)
            #expect(try places.root.names() == ["app.migration", "output", "source"], point)
            #expect(try places.source.names() == ["Documents", "top"], point)
        }
    }

    @Test func `leaves nothing where the status of any file can't be read once`() throws {
        let places = try Places()
        try (places.source / "top").write("content")
        let output = places.root / "output"
        let counts = try places.runExport(to: output, injector: FaultInjector(.nothing)).counts
        let count = try #require(counts["newfstatat"])
        for number in Thoroughness.places(1...count) {
            if output.exists { try output.removeFile() }
            let injector = FaultInjector(.error(EIO), at: "newfstatat", number...number)
            let run = try places.runExport(to: output, injector: injector)
            Fault.inputOutputError.expectEnd(of: run, at: "newfstatat \(number)")
            #expect(try !places.root.names().contains("output.partial"), "newfstatat \(number)")
        }
    }

    @Test func `writes stored content whole, however little is taken at a time`() throws {
        let places = try Places()
        try (places.source / "photo").write(VariedTree.noise(300_000))
        func contents(_ injector: FaultInjector, as output: BytePath) throws -> Data {
            let options = ["--no-compress"]
            let run = try places.runExport(to: output, options: options, injector: injector)
            #expect(run.end == .exited(0))
            return try output.contents()
        }
        let injector = FaultInjector(.half, at: "writev", 1...Int(Int32.max))
        let whole = try contents(FaultInjector(.nothing), as: places.root / "whole")
        #expect(try contents(injector, as: places.root / "halved") == whole)
    }

    @Test func `says why a directory can't be opened`() async throws {
        let places = try Places()
        for path: BytePath in ["Documents", "Documents/inner", "Documents/later"] {
            try (places.source / path).makeDirectory()
        }
        let output = places.root / "output"
        let counts = try places.runExport(to: output, injector: FaultInjector(.nothing)).counts
        let count = try #require(counts["openat"])
        for number in Thoroughness.places(1...count) {
            if output.exists { try output.removeFile() }
            let injector = FaultInjector(.error(EIO), at: "openat", number...number)
            let run = try places.runExport(to: output, injector: injector)
            Fault.inputOutputError.expectEnd(of: run, at: "openat \(number)")
        }
    }

    /// The old container, which is removed last, contains a directory whose mode must be changed first.
    ///
    /// If the C library has to open it for that, a signal interrupts the opening.
    @Test func `survives signals while it removes what forbids that`() async throws {
        let places = try await Places.withSmallArchive()
        func runImport(_ injector: FaultInjector) throws -> FaultInjector.Run {
            try places.removeDestination()
            try places.makeOldDestination()
            return try places.runImport(injector: injector, withoutExchange: false)
        }
        let counts = try runImport(FaultInjector(.nothing)).counts
        for call in ["openat", "fchmodat", "fchmodat2"] {
            guard let count = counts[call] else { continue }
            for number in max(1, count - 15)...count {
                let injector = FaultInjector(.error(EINTR), at: call, number...number + 1)
                let run = try runImport(injector)
                let point: Comment = "\(call) \(number)"
                #expect(run.end == .exited(0), point)
                #expect(run.faults > 0, point)
                let names = try places.root.names()
                #expect(names == ["app.migration", "destination", "source"], point)
            }
        }
    }
}
