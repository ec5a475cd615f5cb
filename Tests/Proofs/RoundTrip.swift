import Foundation
import TestTrees

/// Proves on whole trees that an archive restores what it was made from.
struct RoundTrip {
    private static let leftOut: [BytePath] = [
        "Library/Caches", "tmp", "SystemData", ".migration",
    ]

    private let tools: Tools
    private let trees: [BytePath]

    init(_ tools: Tools, _ options: inout Options) {
        self.tools = tools
        trees = options.takeOperands().map {
            BytePath(URL(filePath: $0).resolvingSymlinksInPath().path)
        }
    }

    private var archive: BytePath { tools.scratch / "archive" }
    private var copy: BytePath { tools.scratch / "copy" }

    /// Proves every tree, or large ones of this machine if none is given; throws a failure.
    func run() throws {
        for tree in trees { try prove(tree, tree.text) }
        guard trees.isEmpty else { return }
        try prove("/usr/share", "/usr/share")
        let toolchain = try toolchain()
        try prove(toolchain, toolchain.text)
        let made = tools.scratch / "made"
        try makeSmallFiles(made)
        try prove(made, "100,000 small files")
        try made.removeAll()
        try makeOneDirectory(made)
        try prove(made, "200,000 files in one directory")
    }

    private func prove(_ tree: BytePath, _ name: String) throws {
        let before = try TreeSnapshot(of: tree, excluding: Self.leftOut)
        try export(tree)
        try Tools.call([tools.migrate, "verify", archive.text, "--external-links", "keep"])
        let readers = try readByOthers(before.nodes.count)
        try Tools.call([
            tools.migrate, "import", archive.text, "--container", copy.text, "--external-links",
            "keep",
        ])
        try compareByDiff(tree)
        let after = try TreeSnapshot(of: copy, excluding: Self.leftOut)
        let (isAlike, verdict) = TreeComparison.verdict(after, before)
        guard isAlike else { throw ProofError("\(name): \(verdict)") }
        let size = TreeComparison.size(try archive.status().st_size)
        print(
            "\(name): \(verdict); archive \(size), same bytes with 1, 2 and 8 threads, "
                + "read by \(readers.joined(separator: " "))"
        )
        try copy.removeAll()
        try archive.removeFile()
    }

    /// Exports with 1, 2 and 8 threads, which must give the same bytes.
    private func export(_ tree: BytePath) throws {
        for threads in [1, 2, 8] {
            let path = threads == 1 ? archive : tools.scratch / "again"
            try Tools.call([
                tools.migrate, "export", "--container", tree.text, "--out", path.text,
                "--threads", "\(threads)",
            ])
            guard threads > 1 else { continue }
            try Tools.call(["cmp", archive.text, path.text])
            try path.removeFile()
        }
    }

    /// Has every installed reader list the archive, without a warning.
    private func readByOthers(_ entries: Int) throws -> [String] {
        let python =
            """
            zstd -dcq "$0" | python3 -c 'import sys, tarfile
            with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
                for number, member in enumerate(archive): print(number)'
            """
        let readers = [
            ("zstd", "zstd -tq \"$0\""), ("tar", "zstd -dcq \"$0\" | tar -tf -"),
            ("python3", python), ("bsdtar", "bsdtar -tf \"$0\""),
        ]
        return try readers.filter { Tools.has($0.0) }.map { reader, script in
            let ended = try Tools.run(
                ["bash", "-o", "pipefail", "-c", script, archive.text],
                scratch: tools.scratch
            )
            guard ended.code == 0, ended.errors.isEmpty else {
                throw ProofError("\(reader): \(ended.description)")
            }
            let count = ended.output.utf8.count { $0 == UInt8(ascii: "\n") }
            guard reader == "zstd" || count == entries else {
                throw ProofError("\(reader) lists \(count) of \(entries) entries")
            }
            return reader
        }
    }

    /// Compares with `diff`, which can't leave out a path, so its lines about omitted paths are
    /// dropped.
    private func compareByDiff(_ tree: BytePath) throws {
        let ended = try Tools.run(
            ["diff", "-r", "--no-dereference", tree.text, copy.text],
            environment: ["LC_ALL": "C"],
            scratch: tools.scratch
        )
        let expected = Set(
            Self.leftOut.flatMap { path in
                [tree, copy].map { root in
                    "Only in \((root / path).parent.text): \(path.name.text)"
                }
            }
        )
        let lines = ended.output.split(separator: "\n").map(String.init)
        let wrong = lines.filter { !expected.contains($0) }
        guard let code = ended.code, code < 2, ended.errors.isEmpty, wrong.isEmpty else {
            throw ProofError("diff: \(wrong.prefix(20)) \(ended.description)")
        }
    }

    // MARK: - Trees

    /// The toolchain that `swift` belongs to, also where `swift` is a launcher of another's.
    private func toolchain() throws -> BytePath {
        struct Target: Decodable {
            struct Paths: Decodable {
                let runtimeResourcePath: String
            }
            let paths: Paths
        }
        let answer = try Tools.call(["swift", "-print-target-info"])
        let resources = try JSONDecoder().decode(Target.self, from: Data(answer.utf8)).paths
            .runtimeResourcePath
        let suffix = "/usr/lib/swift"
        guard resources.hasSuffix(suffix) else { throw ProofError("there is no toolchain") }
        return BytePath(resources == suffix ? resources : String(resources.dropLast(suffix.count)))
    }

    /// Makes a container without the files that an export leaves out by name, so that all of it is
    /// compared.
    private func makeSmallFiles(_ path: BytePath) throws {
        let package = ["--package-path", Tools.root + "/Examples/SampleContainer"]
        try Tools.call(
            [
                "swift", "run", "-c", "release", "--quiet",
            ] + package + ["sample-container", path.text, "--files", "100000"]
        )
        let plist: BytePath = ".com.apple.mobile_container_manager.metadata.plist"
        for name in Self.leftOut + [plist] { try (path / name).removeAll() }
    }

    private func makeOneDirectory(_ path: BytePath) throws {
        try path.makeDirectory()
        try (path / "Documents").makeDirectory()
        for number in 0..<200_000 { try (path / "Documents/file-\(number)").write("") }
    }
}
