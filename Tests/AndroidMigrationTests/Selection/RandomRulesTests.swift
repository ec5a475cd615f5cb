import AndroidMigration
import Foundation
import MigrationArchive
import TestSupport
import Testing

/// Rules at random, applied to storage at random: the conversion sends what the preview says.
@Suite(.scratchDirectory) struct RandomRulesTests {
    private static let names = [
        "a", "b.db", "c", "cache", "files", "s.xml", "x.db-wal", "x.db-shm",
    ]
    private static let tops = [
        "", "files/", "databases/", "shared_prefs/", "cache/", "_external/", "_device/",
        "_device/files/",
    ]
    private static let domains = StorageDomain.allCases.map(\.rawValue)

    private static func paths(_ source: inout SeededGenerator) -> Set<String> {
        Set(
            (0..<Int.random(in: 1...14, using: &source)).map { _ in
                let name = names.randomElement(using: &source) ?? "a"
                let directory = Bool.random(using: &source) ? "d/" : ""
                return (tops.randomElement(using: &source) ?? "") + directory + "f-" + name
            }
        )
    }

    private static func rules(_ source: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...5, using: &source)).map { _ in
            let action = Bool.random(using: &source) ? "include" : "exclude"
            let domain = domains.randomElement(using: &source) ?? "file"
            let name = names.randomElement(using: &source) ?? "a"
            let path = [
                ".", "d", "d/f-\(name)", "f-\(name)", "cache/f-\(name)", "files/f-\(name)", "./d",
                "link",
            ].randomElement(using: &source)
            return "<\(action) domain=\"\(domain)\" path=\"\(path ?? ".")\"/>"
        }.joined()
    }

    @Test func `converts what the preview lists, and names each difference`() async throws {
        var (files, differences) = (0, 0)
        for seed in 0..<UInt64(Thoroughness.isFull ? 2_000 : 25) {
            var source = SeededGenerator(seed: seed)
            let place = try BackupStage()
            let tree = "tree-\(seed)"
            try place.write("root", to: tree + "/files/kept")
            try place.write("root", to: tree + "/databases/x.db-shm")
            for path in Self.paths(&source) { try place.write(path, to: "\(tree)/\(path)") }
            try FileManager.default.createSymbolicLink(
                at: place.url("\(tree)/files/link"),
                withDestinationURL: URL(filePath: "kept")
            )
            let file = try RulesFile(
                [UInt8](
                    """
                    <data-extraction-rules><cross-platform-transfer platform="ios">
                    <platform-specific-params bundleId="a.b" teamId="ABCDE12345" contentVersion="1"/>
                    \(Self.rules(&source))
                    </cross-platform-transfer></data-extraction-rules>
                    """.utf8
                )
            )
            let storage = try await BackupOperations.tree(
                BackupLocation(.path(.init(place.url(tree).path))),
                package: nil,
                spoolingTo: .init(place.url(".").path)
            )
            let preview = Preview(file, section: .crossPlatform, tree: storage)
            let listed = Set(preview.included.filter { !$0.isDirectory }.map(\.iosPath.description))
            var converted: Set<String> = []
            var omitted: Set<String> = []
            do {
                let report = try await place.convert(tree, force: true) {
                    $0.package = "com.x"
                    $0.rules = file
                }
                converted = Set(try await place.files().keys)
                omitted = Set(report.omitted.items.map(\.path))
            } catch let error as AndroidMigrationError where error.code == .nothingToConvert {
                #expect(listed.allSatisfy { $0.hasSuffix("-shm") }, "\(seed): \(error.message)")
                continue
            }
            #expect(converted.isSubset(of: listed), "\(seed)")
            let missing = listed.subtracting(converted)
            #expect(missing.isSubset(of: omitted), "\(seed): \(missing.subtracting(omitted))")
            #expect(missing.allSatisfy { $0.hasSuffix("-shm") }, "\(seed)")
            files += converted.count
            differences += missing.count
        }
        #expect(files > 20 && differences > 0)
    }
}
