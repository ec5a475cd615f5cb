import MigrationArchive
import MigrationCore
import Testing

@testable import MigrationReports

/// The largest parts of a tree, as a page shows them.
struct ReportTreeTests {
    private func entry(_ path: String, _ kind: ArchiveEntry.Kind) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: kind,
            permissions: 0o644,
            modificationTime: FileTime(seconds: 0)
        )
    }

    /// The nodes below `node`, each with its path, its bytes and its state.
    private func lines(_ node: ReportNode, in path: String = "") -> [String] {
        let own = path + node.name
        let state = node.state.map { " \($0.rawValue)" } ?? ""
        return ["\(own) \(node.bytes)\(state)"]
            + node.children.flatMap { lines($0, in: own.isEmpty ? "" : own + "/") }
    }

    @Test func `shows the largest first, and the state of each`() {
        var tree = ReportTree()
        tree.add(entry("a/large.txt", .file(size: 30)))
        tree.add(entry("a/b/small", .file(size: 4)), state: .omitted)
        tree.add(entry("a/b", .directory), state: .leftBehind)
        tree.add(entry("a", .directory))
        tree.add(entry("link", .symbolicLink(target: [0x61])))
        tree.add([UInt8]("c".utf8), bytes: 7, as: .omitted)
        let root = tree.nodes()
        #expect(
            lines(root) == [
                " 41", "a 34", "a/large.txt 30", "a/b 4 left behind", "a/b/small 4 omitted",
                "c 7 omitted",
            ]
        )
        #expect(root.files == 3 && root.omitted == 2)
        #expect(tree.largestFiles.map(\.path.description) == ["a/large.txt"])
    }

    /// A directory that is too deep counts for the one that holds it, whose state isn't its own.
    @Test func `gives no state to a directory that is not shown`() {
        var tree = ReportTree()
        let deep = (0..<80).map { "\($0)" }.joined(separator: "/")
        tree.add(entry(deep, .directory), state: .omitted)
        tree.add(entry(deep + "/file", .file(size: 1)))
        #expect(!lines(tree.nodes()).contains { $0.hasSuffix("omitted") })
    }

    @Test func `counts the files that it has no room for`() {
        var tree = ReportTree()
        for number in 0..<6000 {
            tree.add(entry("d/\(number)", .file(size: UInt64(number))))
        }
        let directory = tree.nodes().children[0]
        #expect(directory.files == 6000 && directory.children.count == 4999)
        #expect(directory.children.map(\.files).reduce(0, +) == 6000)
        #expect(directory.children.map(\.bytes).reduce(0, +) == directory.bytes)
        let folded = directory.children.filter { $0.type == .folded }
        #expect(folded.map(\.name) == ["1,002 smaller files"])
        #expect(tree.largestFiles.first?.bytes == 5999)
    }
}
