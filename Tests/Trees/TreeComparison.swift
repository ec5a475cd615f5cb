import Foundation

/// Describes how a tree differs from another: names, kinds, modes, times, links, content,
/// attributes.
package enum TreeComparison {
    /// Describes how many differences there are between a tree and the expected one, and which.
    package static func verdict(
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

    /// A number of bytes in readable form.
    package static func size(_ bytes: Int) -> String {
        var (value, units) = (Double(bytes) / 1000, ["kB", "MB", "GB", "TB"][...])
        while value >= 999.95 && units.count > 1 {
            value /= 1000
            units.removeFirst()
        }
        return String(format: "%.1f ", value) + (units.first ?? "")
    }
}
