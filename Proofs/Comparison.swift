import Foundation
import TestSupport

/// Compares two trees in full: names, kinds, modes, times, links, content and attributes.
struct Comparison {
    private let trees: [BytePath]
    private let exclusions: [BytePath]

    init(_ options: inout Options) throws {
        exclusions = options.texts("exclude").map { BytePath($0) }
        trees = options.takeOperands().map { BytePath($0) }
        guard trees.count == 2 else { throw ProofError("name two directories") }
    }

    /// Prints in what the second tree is not as the first; returns whether it is.
    func run() throws -> Bool {
        let snapshots = try trees.map { try TreeSnapshot(of: $0, excluding: exclusions) }
        let (isAlike, words) = Self.verdict(snapshots[1], snapshots[0])
        print(words)
        return isAlike
    }

    /// Says in how much, and in what, a tree is not as expected.
    static func verdict(
        _ found: TreeSnapshot,
        _ expected: TreeSnapshot
    ) -> (isAlike: Bool, words: String) {
        let differences = found.differences(from: expected)
        let count = expected.nodes.count.formatted(.number.locale(Locale(identifier: "en_US")))
        let extent = "\(count) entries, \(size(expected.contentBytes))"
        guard !differences.isEmpty else { return (true, "identical: \(extent)") }
        let lines =
            differences.prefix(20).map { "\n  \($0)" } + (differences.count > 20 ? ["\n  …"] : [])
        return (false, "different: \(differences.count) of \(extent)\(lines.joined())")
    }

    /// A number of bytes as people read it.
    static func size(_ bytes: Int) -> String {
        var (value, units) = (Double(bytes) / 1000, ["kB", "MB", "GB", "TB"][...])
        while value >= 999.95 && units.count > 1 {
            value /= 1000
            units.removeFirst()
        }
        return String(format: "%.1f ", value) + (units.first ?? "")
    }
}
