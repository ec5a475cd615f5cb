internal import Foundation

/// Counts how far inputs get, to notice a target that only sees refusals.
public enum Milestones {
    // Safe because libFuzzer calls a target on one thread only.
    nonisolated(unsafe) private static var counts: [String: Int] = [:]

    /// Names the milestones that seeds must reach; the counts are printed when the process ends.
    public static func expect(_ names: [String]) {
        for name in names { counts[name, default: 0] += 0 }
        atexit { Milestones.report() }
    }

    /// Notes that the input came this far.
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
