internal import Foundation

/// Counts how far inputs get, so that a target that sees nothing but refusals is noticed.
public enum Milestones {
    // Safe because libFuzzer calls a target on one thread only.
    nonisolated(unsafe) private static var counts: [String: Int] = [:]

    /// Names what seeds must reach; the counts are printed when the process ends.
    public static func expect(_ names: [String]) {
        for name in names { counts[name, default: 0] += 0 }
        atexit { Milestones.report() }
    }

    /// Takes note that the input came this far.
    public static func reach(_ name: String) {
        counts[name, default: 0] += 1
    }

    private static func report() {
        var text = ""
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            text += "milestone: \(count) \(name)\n"
        }
        FileHandle.standardError.write(Data(text.utf8))
    }
}
