import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// The corpus of odd and hostile archives; with `MIGRATION_CORPUS` set it is written there too, for
/// `Scripts/prove corpus`.
@Suite(.scratchDirectory)
struct HostileCorpusTests {
    @Test(arguments: HostileCase.all)
    func `gives the tree or names the entry`(_ hostile: HostileCase) throws {
        let target = try BytePath.scratch / "target"
        do {
            _ = try Extraction(TestArchive(bytes: hostile.bytes), { $0.isLenient = true })
            guard case .accepted(let tree) = hostile.verdict else {
                Issue.record("it was restored: \(try lines(of: target))")
                return
            }
            #expect(try lines(of: target) == Set(tree))
        } catch let error as ArchiveError {
            check(error, hostile)
        }
        #expect(try Extraction.neighbours == [])
    }

    private func check(_ error: ArchiveError, _ hostile: HostileCase) {
        #expect(!error.description.contains("\n"))
        switch hostile.verdict {
        case .accepted: Issue.record(error)
        case .noArchive: #expect(error.code == .notAnArchive)
        case .refused:
            let codes: [ArchiveError.Code] = [
                .damaged, .truncated, .refused, .externalLink, .entryExists, .unsupported,
            ]
            #expect(codes.contains(error.code), "\(error)")
            #expect(error.offset != nil, "\(error)")
            let namesEntry = error.entry != nil || error.message.contains(", after ")
            #expect(namesEntry || hostile.hidesEntries, "\(error)")
        }
    }

    /// The contents of `directory`, one per line.
    private func lines(of directory: BytePath) throws -> Set<String> {
        if geteuid() != 0 {
            let path = String(decoding: directory.bytes, as: UTF8.self)
            _ = try Scratch.shell("chmod -R u+rwX \"$0\"", path)
        }
        let nodes = try TreeSnapshot(of: directory).nodes
        return Set(
            nodes.map { path, node in
                let name = String(decoding: path.bytes, as: UTF8.self)
                return switch node.type {
                case S_IFDIR: name + "/"
                case S_IFLNK: "\(name) -> \(String(decoding: node.target, as: UTF8.self))"
                default: "\(name) \(node.content.count)"
                }
            }
        )
    }

    @Test func `has a name of its own for each case`() {
        #expect(Set(HostileCase.all.map(\.fileName)).count == HostileCase.all.count)
    }

    private static let directory = ProcessInfo.processInfo.environment["MIGRATION_CORPUS"]

    @Test(.enabled(if: directory != nil, "MIGRATION_CORPUS names no directory"))
    func `is written for other readers`() throws {
        let directory = URL(filePath: try #require(Self.directory), directoryHint: .isDirectory)
        var index = "file\twhat_it_tests\ttar_layer_verdict\n"
        for hostile in HostileCase.all {
            try Data(hostile.bytes).write(to: directory.appending(path: hostile.fileName))
            let isAccepted = if case .accepted = hostile.verdict { true } else { false }
            index += "\(hostile.fileName)\t\(hostile.name)\t\(isAccepted ? "accept" : "reject")\n"
        }
        try Data(index.utf8).write(to: directory.appending(path: "INDEX.tsv"))
    }
}
