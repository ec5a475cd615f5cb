import Foundation
import TestTrees

/// Compares two trees in full, without migrate's code: exits with 0 if they are alike, with 1 if
/// they differ.
@main
enum CompareTrees {
    private static let usage = """
        USAGE: compare-trees <directory> <directory> [--exclude=<path>]...

          --exclude  leave out this path, relative to both, and all below it

        """

    static func main() {
        let words = CommandLine.arguments.dropFirst()
        let option = "--exclude="
        let exclusions = words.filter { $0.hasPrefix(option) }
            .map { BytePath(String($0.dropFirst(option.count))) }
        let trees = words.filter { !$0.hasPrefix("-") }
        guard trees.count == 2, exclusions.count + trees.count == words.count else {
            fail(with: EX_USAGE, usage)
        }
        do {
            let snapshots = try trees.map {
                try TreeSnapshot(of: BytePath($0), excluding: exclusions)
            }
            let (isAlike, words) = TreeComparison.verdict(snapshots[1], snapshots[0])
            print(words)
            exit(isAlike ? 0 : 1)
        } catch {
            fail(with: EX_NOINPUT, "compare-trees: error: \(error)\n")
        }
    }

    private static func fail(with code: Int32, _ text: String) -> Never {
        FileHandle.standardError.write(Data(text.utf8))
        exit(code)
    }
}
