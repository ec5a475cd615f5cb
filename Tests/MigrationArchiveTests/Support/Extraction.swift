import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// An archive restored into a directory of its own.
struct Extraction {
    /// The directory's path.
    let path: String
    let extractor: ArchiveExtractor

    /// Restores `archive`, and checks that the verifier gives the same verdict; entries that were
    /// restored before a failure stay at ``lastPath``.
    init(
        _ archive: TestArchive,
        _ change: (inout ArchiveExtractor.Options) -> Void = { _ in },
        route: TestArchive.Route = .wholeFile
    ) throws {
        var options = ArchiveExtractor.Options()
        change(&options)
        path = try Self.targetPath
        let parent = try FileDescriptor.open(Scratch.path("."), .directory)
        try parent.makeDirectory([UInt8]("target".utf8), permissions: 0o700)
        let reader = try archive.reader(route)
        let root = try FileDescriptor.open(BytePath(path), .directory)
        extractor = ArchiveExtractor(root: root, options: options)
        let judged = Result {
            let judge = Self.judge(options)
            try judge.extract(from: archive.reader(route)) { _ in }
            return judge
        }
        do {
            try extractor.extract(from: reader) { _ in }
        } catch let error as ArchiveError {
            let verdict = #expect(throws: ArchiveError.self) { try judged.get() }
            #expect(verdict?.description == error.description)
            throw error
        }
        let judge = try judged.get()
        #expect(judge.tally.totals == extractor.tally.totals)
        #expect(judge.tally.omissions == extractor.tally.omissions)
    }

    /// Judges entries without making files.
    static func judge(_ options: ArchiveExtractor.Options) -> ArchiveExtractor {
        ArchiveExtractor(restoringNothing: options)
    }

    /// Where archives are restored.
    static var targetPath: String {
        get throws { try Scratch.path("target").text }
    }

    /// The files beside the directory, which must never change.
    static var neighbours: [String] {
        get throws {
            let scratch = try Scratch.path(".").text
            return try FileManager.default.contentsOfDirectory(atPath: scratch)
                .filter { $0.contains("outside") }
        }
    }

    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { [UInt8]($0) }
    }

    func status(_ name: String) throws -> FileStatus {
        try FileDescriptor.status(atPath: "\(path)/\(name)")
    }

    func linkTarget(_ name: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/\(name)")
    }

    func exists(_ name: String) -> Bool { (try? status(name)) != nil }

    /// Restores `items`, which must be refused; returns the error's code.
    static func refusal(
        _ items: [Item],
        _ change: (inout ArchiveExtractor.Options) -> Void = { _ in },
        location: SourceLocation = #_sourceLocation
    ) throws -> ArchiveError? {
        let archive = try TestArchive(items)
        return #expect(throws: ArchiveError.self, sourceLocation: location) {
            _ = try Extraction(archive, change)
        }
    }
}
