import Foundation
import Glibc
import TestTrees

/// Proves that a container of oddities comes back, and reports how other readers handle it.
struct OddContainer {
    private let tools: Tools

    init(_ tools: Tools) {
        self.tools = tools
    }

    private var odd: BytePath { tools.scratch / "odd" }
    private var archive: BytePath { tools.scratch / "archive" }

    /// Returns the number of unexplained differences.
    func run() throws -> Int {
        umask(0o022)
        try Oddities(odd).make()
        let before = try TreeSnapshot(of: odd)
        let omissions = try self.omissions(of: [
            "export", "--container", odd.text, "--out", archive.text,
        ])
        let imported = tools.scratch / "imported"
        let dropped = try self.omissions(
            of: [
                "import", archive.text, "--container", imported.text, "--external-links", "keep",
            ]
        )
        let named = omissions + dropped
        let after = try TreeSnapshot(of: imported, excluding: [".migration"])
        let wrong = differences(after, try before.without(named)).map(\.difference)
        print(
            "migrate: \(before.nodes.count) entries, \(named.count) things not carried and named, "
                + "\(wrong.count) other differences"
        )
        for omission in named {
            print("  named: \(omission.path): \(omission.reason) \(omission.detail)")
        }
        show(wrong)
        var count = wrong.count + (try refusesDepth(60_000) ? 0 : 1)
        for reader in Reader.all where Tools.has(reader.words[0]) {
            count += try unexplained(reader, try before.without(omissions))
        }
        return count
    }

    private func show(_ wrong: [String]) {
        for difference in wrong.prefix(20) { print("  WRONG: \(difference.prefix(400))") }
    }

    /// Exports a tree that is too deep for an archive; this must fail with a named error and leave
    /// nothing.
    private func refusesDepth(_ levels: Int) throws -> Bool {
        let (deep, none) = (tools.scratch / "deep", tools.scratch / "none")
        try deep.makeDirectory()
        try deep.makeLevels(levels, named: "d")
        let ended = try tools.run(["export", "--container", deep.text, "--out", none.text])
        let isRight =
            ended.code == 1 && ended.errors.contains("the path is longer than") && !none.exists
        print("\(levels) levels: \(isRight ? "refused" : "WRONG"): \(ended.errors.prefix(100))")
        return isRight
    }

    // MARK: - Reports

    fileprivate struct Omission: Decodable {
        let path: String
        let reason: String
        let detail: String
    }

    private struct Report: Decodable {
        struct Omissions: Decodable {
            let items: [Omission]
        }
        let omissions: Omissions
    }

    /// Runs `migrate`, which must succeed, and returns its report of things that were not carried.
    private func omissions(of words: [String]) throws -> [Omission] {
        let answer = try Tools.call([tools.migrate] + words + ["--json"])
        return try JSONDecoder().decode(Report.self, from: Data(answer.utf8)).omissions.items
    }

    // MARK: - Readers

    /// Another program that restores archives, and the properties that it never restores.
    private struct Reader {
        let name: String
        let words: [String]
        let limits: [Limit: String]

        static let all = [
            Reader(
                name: "GNU tar",
                words: ["tar", "--xattrs", "--xattrs-include=user.*", "-xpf"],
                limits: [
                    .holes: "gives back holes only of its own sparse format",
                    .fraction: "gives back whole seconds, as the stream has them",
                    .deepPath:
                        "makes a file by its whole path, which the system takes up to 4,095 bytes",
                ]
            ),
            Reader(
                name: "bsdtar",
                words: ["bsdtar", "-xpf"],
                limits: [
                    .holes: "gives back holes only of a sparse format",
                    .deepPath:
                        "sets a time by the whole path, which the system takes up to 4,095 bytes",
                    .fraction: "gives back whole seconds, as the stream has them",
                    .composedName: "composes letters and accents, so that two names become one",
                    .equalsSign:
                        "leaves an equals sign in an attribute's name as GNU tar escapes it",
                ]
            ),
        ]
    }

    private enum Limit: String, CaseIterable {
        case holes, deepPath = "deep path", fraction = "fraction of a second"
        case composedName = "composed name", equalsSign = "equals sign"
    }

    /// Has another program extract the archive; returns the number of unexplained differences.
    private func unexplained(_ reader: Reader, _ expected: TreeSnapshot) throws -> Int {
        let target = tools.scratch / BytePath(reader.name)
        try target.makeDirectory()
        let ended = try Tools.run(
            reader.words + [archive.text, "-C", target.text],
            scratch: tools.scratch
        )
        let found = differences(try TreeSnapshot(of: target), expected)
        let wrong = found.filter { $0.limit.flatMap { reader.limits[$0] } == nil }
        print(
            "\(reader.name): \(found.count) differences, \(wrong.count) of them not its own limits "
                + "(ended with \(ended.code ?? -1))"
        )
        for limit in Limit.allCases {
            let count = found.count { $0.limit == limit }
            if count > 0, let reason = reader.limits[limit] {
                print("  \(limit.rawValue): \(count): \(reason)")
            }
        }
        show(wrong.map(\.difference))
        return wrong.count
    }

    /// All differences, and the limit of another reader that explains each.
    private func differences(
        _ found: TreeSnapshot,
        _ expected: TreeSnapshot
    ) -> [(difference: String, limit: Limit?)] {
        // Fewer blocks because of runs of zeros don't count as a loss.
        let holes = expected.blocks.filter { path, count in found.blocks[path] ?? 0 > count }
        return holes.keys.sorted().map { ("\($0): holes", .holes) }
            + found.differences(from: expected).map { difference in
                let path = difference.path
                return (
                    difference.description,
                    limit(difference, found.nodes[path], expected.nodes[path])
                )
            }
    }

    private func limit(
        _ difference: TreeSnapshot.Difference,
        _ found: TreeSnapshot.Node?,
        _ expected: TreeSnapshot.Node?
    ) -> Limit? {
        let path = difference.path
        if path.bytes.count > 3_900 { return .deepPath }
        if difference.property == .time, let found, let expected,
            found.seconds == expected.seconds, found.nanoseconds == 0
        {
            return .fraction
        }
        let (composed, decomposed) = (
            path.text.precomposedStringWithCanonicalMapping,
            path.text.decomposedStringWithCanonicalMapping
        )
        if !composed.utf8.elementsEqual(decomposed.utf8) { return .composedName }
        guard difference.property == .attributes, let found, let expected else { return nil }
        let names = found.attributes.map { ($0.key.replacing("%3D", with: "="), $0.value) }
        return expected.attributes == Dictionary(names) { $1 } ? .equalsSign : nil
    }
}

extension TreeSnapshot {
    /// The snapshot without the things that reports say were not carried.
    fileprivate func without(_ omissions: [OddContainer.Omission]) throws -> TreeSnapshot {
        var expected = self
        for omission in omissions {
            let path = BytePath(omission.path)
            guard expected.nodes[path] != nil else {
                throw ProofError("a report names \(path), which is not there")
            }
            switch omission.reason {
            case "specialFile": expected.nodes[path] = nil
            case "specialPermissions": expected.nodes[path]?.mode &= 0o777
            case "extendedAttribute": expected.nodes[path]?.attributes[omission.detail] = nil
            default: break
            }
        }
        return expected
    }
}

/// A container with one of everything that is hard to carry.
private struct Oddities {
    private let root: BytePath
    /// A user who can't read a file can't export it.
    private let isRoot = geteuid() == 0

    init(_ root: BytePath) {
        self.root = root
    }

    func make() throws {
        try root.makeDirectory()
        try addModesAndTimes()
        try addNames()
        try addLinks()
        try addContents()
        try addAttributes()
        try root.makeLevels(45, named: BytePath([UInt8](repeating: 0x64, count: 200))) {
            try ($0 / "bottom").write("")
        }
        try (root / "pipe").makeFIFO()
        try (root / "socket").makeSocket()
    }

    @discardableResult
    private func file(_ name: BytePath, _ content: Data = Data("data".utf8)) throws -> BytePath {
        try Tools.call(["mkdir", "-p", (root / name).parent.text])
        try (root / name).write(content)
        return root / name
    }

    private func addModesAndTimes() throws {
        let moments: [(seconds: Int, nanoseconds: Int)] = [
            (-2, 500_000_000), (-1, 999_999_999), (0, 0), (0, 1), (1_234_567_890, 123_456_789),
            (9_223_372_036, 854_775_807),
        ]
        for (seconds, nanoseconds) in moments {
            try file("times/\(seconds).\(nanoseconds)").setModificationTime(seconds, nanoseconds)
        }
        for mode: mode_t in [0o000, 0o200, 0o444, 0o640, 0o711, 0o777, 0o2755, 0o4711]
        where isRoot || mode & 0o400 != 0 {
            try file("modes/file-\(String(mode, radix: 8))").setMode(mode)
        }
        for mode: mode_t in [0o300, 0o500, 0o755, 0o1777] where isRoot || mode & 0o400 != 0 {
            let directory = root / "modes/directory-\(String(mode, radix: 8))"
            try directory.makeDirectory()
            try directory.setMode(mode)
        }
        try (root / "times/of an empty directory").makeDirectory()
        try (root / "times/of an empty directory").setModificationTime(987_654_321, 12_345_678)
        try (root / "times").setModificationTime(1_600_000_000, 1)
    }

    private func addNames() throws {
        func long(_ letter: String, _ count: Int) -> String {
            String(repeating: letter, count: count)
        }
        let names = [
            "é", "e\u{301}", "😀", "a\nb", "\u{1B}[31m", "tab\t", " first", "last ", "-n", "--",
            "\\", "c:d", "...", "CASE", "case", "*?[", "'\"", "%00", "\u{7F}", ".DS_Store",
            "._double", "PaxHeaders.1/x", "@LongLink", long("m", 255), long("u", 100),
            long("v", 101), long("p", 154) + "/" + long("q", 100),
            long("p", 155) + "/" + long("q", 101),
        ]
        let bytes = [BytePath([0xFF, 0xFE]), BytePath([UInt8]("latin-".utf8) + [0xE4])]
        for name in bytes + names.map({ BytePath($0) }) {
            try file("names" / name, Data(name.bytes))
        }
    }

    private func addLinks() throws {
        try file("links/file")
        let targets: [(BytePath, BytePath)] = [
            ("beside", "file"), ("above", "../names/case"), ("missing", "nothing"),
            ("absolute", "/usr/no"), ("outside", "../../.."), ("bytes", BytePath([0xFE, 0xFF])),
            ("long", BytePath([UInt8](repeating: 0x6C, count: 4_000))), ("itself", "itself"),
            ("of a directory", "../modes"),
        ]
        for (name, target) in targets {
            try (root / "links" / name).makeSymbolicLink(to: target)
        }
        try (root / "links/beside").setModificationTime(1_500_000_000, 9)
        try (root / "links/below").makeDirectory()
        for name: BytePath in ["links/second", "links/below/third", "a first name"] {
            try (root / name).makeHardLink(to: root / "links/file")
        }
        try (root / "links/second of a link").makeHardLink(to: root / "links/missing")
    }

    private func addContents() throws {
        try file("contents/none", Data())
        try file("contents/noise", VariedTree.noise(3 << 20 + 1))
        try file("contents/zeros", Data(count: 1 << 20))
        try file("contents/hole", Data()).truncate(to: 16 << 20)
        try file("contents/hole behind", Data("first".utf8)).truncate(to: 16 << 20)
        let holes = try file("contents/holes", Data())
        try holes.truncate(to: 48 << 20)
        let handle = try FileHandle(forWritingTo: holes.url)
        try handle.seek(toOffset: 9 << 20)
        try handle.write(contentsOf: Data("in".utf8))
        try handle.seek(toOffset: 48 << 20 - 4)
        try handle.write(contentsOf: Data("last".utf8))
        try handle.close()
    }

    private func addAttributes() throws {
        // The rights of the owner, a user, a group, the mask and others, as the system stores them.
        let accessList: [UInt8] = [
            2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0, 255,
            255, 255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255,
        ]
        func set(_ path: BytePath, _ name: String, _ value: [UInt8]) throws {
            guard try path.setAttribute(name, value) else {
                throw ProofError("$TMPDIR keeps no attribute \(name)")
            }
        }
        let path = try file("attributes/file")
        try set(path, "user.empty", [])
        try set(path, "user.all", (0...255).map { UInt8($0) })
        try set(path, "user.long", [UInt8](repeating: 0x4C, count: 3_000))
        try set(path, "user.a=b", [UInt8]("=".utf8))
        try set(path, "user.ü", [UInt8]("\n".utf8))
        try set(path, "user.com.apple.quarantine", [UInt8]("0081;".utf8))
        try (root / "attributes/directory").makeDirectory()
        try set(root / "attributes/directory", "user.kept", [UInt8]("yes".utf8))
        try set(file("attributes/shared by a list"), "system.posix_acl_access", accessList)
        if isRoot { try set(path, "trusted.other", [UInt8]("x".utf8)) }
    }
}
