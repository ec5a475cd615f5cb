import Foundation
import MigrationHosting

/// Measures what a process of its own adds to an export by an extension.
///
/// The same extension exports the same container in this process and in its own, in turn.
@main
struct SessionBenchmarks {
    static func main() async throws {
        let place = try ExportPlace()
        defer { place.remove() }
        print("Exports by an extension, in its own process and in the host's:")
        print("")
        print("| | own process | host's process | difference | ratio |")
        print("|---|--:|--:|--:|--:|")
        try await measure("10 files", place, count: 10, rounds: 21)
        try await measure("100,000 appends", place, count: 100_000, rounds: 5)
    }

    @concurrent
    private static func measure(
        _ name: String,
        _ place: ExportPlace,
        count: Int,
        rounds: Int
    ) async throws {
        try place.fill(count)
        let container = try MigrationDataContainer(at: place.container)
        var (own, host): ([Double], [Double]) = ([], [])
        // The first round warms both up.
        for round in 0...rounds {
            let ownTime = try await time { try await place.export(container, place.ownProcess) }
            let hostTime = try await time { try await place.export(container, place.inProcess) }
            guard round > 0 else { continue }
            own.append(ownTime)
            host.append(hostTime)
        }
        let ratios = zip(own, host).map { $0 / $1 }
        let differences = zip(own, host).map { $0 - $1 }
        let row = [
            milliseconds(median(own)), milliseconds(median(host)),
            milliseconds(median(differences)),
            String(format: "%.3f", median(ratios)),
        ]
        print("| \(name) | " + row.joined(separator: " | ") + " |")
    }

    private static func time(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    private static func milliseconds(_ value: Double) -> String {
        String(format: "%.1f ms", value)
    }
}
