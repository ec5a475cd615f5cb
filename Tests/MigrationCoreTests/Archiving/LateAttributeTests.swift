import Foundation
import MigrationArchive
import MigrationCore
import Synchronization
import TestSupport
import Testing

/// Exports lay entries out as if none had attributes, until one has.
@Suite(.scratchDirectory)
struct LateAttributeTests {
    private static let fileCount = 40
    private static let content = VariedTree.noise(100 << 10)
    private static let longContent = VariedTree.noise(5 << 20)

    /// Makes files of 100 KiB, some larger than a piece, of which those at `places` have an attribute.
    ///
    /// - Returns: `nil` if the file system has no attributes.
    private func makeSource(_ places: [Int]) throws -> Places? {
        let made = try Places()
        for index in 0..<Self.fileCount {
            let file = made.source / BytePath([UInt8]("file-\(index + 100)".utf8))
            try file.write(index % 20 == 9 ? Self.longContent : Self.content)
            guard places.contains(index) else { continue }
            guard try file.setAttribute("user.late", [UInt8](utf8: "of \(index)")) else {
                return nil
            }
        }
        return made
    }

    private func export(
        _ places: Places,
        threads: Int,
        progress: Progress? = nil,
        handler: (@Sendable (ArchiveEntry) -> Void)? = nil
    ) async throws -> ExportReport {
        var options = ExportOptions()
        options.threadCount = threads
        options.entryHandler = handler
        return try await places.exportSource(options: options, replacing: true, progress: progress)
    }

    @Test(arguments: [[0], [9], [10], [25, 26], [9, 39], [39]])
    func `archives attributes wherever the first of them turns up`(_ indexes: [Int]) async throws {
        guard let places = try makeSource(indexes) else { return }
        var archives: Set<Data> = []
        for threads in [1, 2, 5] {
            let progress = Progress(totalUnitCount: -1)
            let seen = Mutex<[EntryPath]>([])
            let report = try await export(places, threads: threads, progress: progress) { entry in
                seen.withLock { $0.append(entry.path) }
            }
            archives.insert(try places.archive.contents())
            #expect(report.totals.files == UInt64(Self.fileCount))
            #expect(progress.completedUnitCount == Int64(report.totals.contentBytes))
            let paths = seen.withLock { $0 }
            #expect(paths.count == Self.fileCount && Set(paths).count == Self.fileCount)
        }
        #expect(archives.count == 1)
        try await places.importArchive()
        #expect(
            try places.contents(of: places.destination) == places.contents(of: places.source)
        )
    }
}
