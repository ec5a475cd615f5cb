import Foundation
import Glibc
import MigrationCore
import TestSupport
import Testing

/// Imports while another thread replaces the directories that are being filled with links to
/// outside.
///
/// `MIGRATION_RACE_SECONDS` makes it longer, as `Scripts/prove-containment` does.
@Suite(.scratchDirectory)
struct RaceTests {
    private static let seconds =
        ProcessInfo.processInfo.environment["MIGRATION_RACE_SECONDS"].flatMap(Int.init) ?? 1

    private static let directories = (0..<8).map { BytePath([UInt8]("d\($0)".utf8)) }
    private static let files = (0..<12).map { BytePath([UInt8]("f\($0)".utf8)) }

    /// How the imports of a race ended.
    private struct Outcome {
        var successes = 0
        var failures = 0
        var swaps = 0

        var imports: Int { successes + failures }

        /// Prints the figures of a long race.
        func show(_ name: String) {
            print("\(name): \(swaps) swaps, \(successes) imports done, \(failures) failed")
        }
    }

    @Test(arguments: [false, true])
    func `writes nothing outside while directories become links`(_ isForeign: Bool) async throws {
        let places = try makePlaces()
        try await places.exportSource()
        if isForeign { try makeForeign(places) }
        var outcome = Outcome()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        // A busy machine may need longer for the first swap.
        repeat {
            try await race(places, &outcome)
        } while ContinuousClock.now < end || outcome.swaps == 0 && outcome.imports < 1000
        if Self.seconds > 1 { outcome.show(isForeign ? "tar file" : "archive") }
        #expect(outcome.swaps > 0)
    }

    private func makePlaces() throws -> Places {
        let places = try Places()
        try (places.root / "outside").makeDirectory()
        for directory in Self.directories {
            try (places.source / directory).makeDirectory()
            for file in Self.files {
                try (places.source / directory / file).write("content of \(file)")
            }
        }
        return places
    }

    /// Makes another program's tar file of the source.
    private func makeForeign(_ places: Places) throws {
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/env")
        tar.arguments = ["tar", "-C", places.source.url.path, "-cf", places.archive.url.path, "."]
        try tar.run()
        tar.waitUntilExit()
        try #require(tar.terminationStatus == 0)
    }

    /// Runs one import beside a racer, and checks the result.
    private func race(_ places: Places, _ outcome: inout Outcome) async throws {
        let outside = places.root / "outside"
        let racer = Racer(
            in: places.root / ".destination.migration-staging/container",
            swapping: Self.directories,
            with: outside
        )
        do {
            defer { outcome.swaps += racer.stop() }
            try await places.importArchive()
            outcome.successes += 1
        } catch {
            outcome.failures += 1
            let isEmpty =
                try !places.destination.exists
                || places.contents(of: places.destination).nodes.isEmpty
            #expect(isEmpty, "\(error)")
        }
        #expect(try outside.names() == [])
        guard places.destination.exists else { return }
        if try !places.contents(of: places.destination).nodes.isEmpty { try checkIsWhole(places) }
        try FileManager.default.removeItem(at: places.destination.url)
    }

    /// Checks that every directory is there with all of its files, under its name or the racer's.
    private func checkIsWhole(_ places: Places) throws {
        let nodes = try places.contents(of: places.destination).nodes
        for directory in Self.directories {
            let isSwapped = nodes[directory]?.type != S_IFDIR
            let real = isSwapped ? Racer.trap(for: directory) : directory
            for file in Self.files {
                let content = nodes[real / file]?.content
                #expect(content == Content("content of \(file)"))
            }
        }
    }
}
