import Foundation
import MigrationCore
import TestSupport
import Testing

/// Stops the real command at its reads of a file or directory, and changes that before the command
/// continues.
@Suite(
    .scratchDirectory,
    .points,
    .enabled(
        if: FrozenExport.isPossible,
        "strace is missing, may not trace, or migrate is not built"
    )
)
struct SourceChangeTests {
    /// What happens to a file while it is read.
    enum FileChange: CaseIterable {
        case shrinks, grows, isRewritten, isRewrittenUnderItsOldTime, isRemoved, isReplaced
        case changesMode
    }

    /// What happens to a directory while it is walked.
    enum DirectoryChange: CaseIterable {
        case gains, loses, changesMode
    }

    enum Target: CaseIterable {
        /// Read whole, by whichever thread makes its piece.
        case small
        /// Read piece by piece, each by whichever thread makes it.
        case large
        /// Read around its holes.
        case sparse

        var path: BytePath {
            switch self {
            case .small: "Documents/file-150"
            case .large: "Documents/large"
            case .sparse: "Documents/sparse"
            }
        }
    }

    private func makeSource() throws -> Places {
        let places = try Places()
        try (places.source / "Documents").makeDirectory()
        for number in 100..<200 {
            let name = BytePath([UInt8]("file-\(number)".utf8))
            try (places.source / "Documents" / name).write("the content of \(number)")
        }
        // Empty, so that the estimate in the header is the same without it.
        try (places.source / "Documents/zz").write("")
        try (places.source / Target.large.path).write(Data(repeating: 7, count: 6 << 20))
        try (places.source / Target.sparse.path).write("at the start")
        try (places.source / Target.sparse.path).truncate(to: 8 << 20)
        try (places.source / Target.sparse.path).append("at the end")
        return places
    }

    private func apply(_ change: FileChange, to file: BytePath) throws {
        let content = try file.contents()
        switch change {
        case .shrinks: try file.truncate(to: content.count - 1)
        case .grows: try file.truncate(to: content.count + 1)
        case .isRewritten: try file.write(Data(repeating: 8, count: content.count))
        case .isRewrittenUnderItsOldTime:
            try file.write(Data(repeating: 8, count: content.count))
            try file.setModificationTime(1_600_000_000, 5)
        case .isRemoved: try file.removeFile()
        case .isReplaced:
            let other = BytePath(file.bytes + [UInt8](".new".utf8))
            try other.write(content)
            try other.setModificationTime(1_600_000_000, 5)
            try other.rename(to: file)
        case .changesMode: try file.setMode(0o640)
        }
    }

    private func apply(_ change: DirectoryChange, to directory: BytePath) throws {
        switch change {
        case .gains: try (directory / "zzz").write("")
        case .loses: try (directory / "zz").removeFile()
        case .changesMode: try directory.setMode(0o750)
        }
    }

    /// The bytes of an archive of the source as it is now.
    private func archiveOfSource(_ places: Places) throws -> Data {
        let unused = places.root / "unused"
        try unused.write("")
        let export = try FrozenExport.run(places, watching: unused, calls: "read", at: 1) {}
        #expect(export.exitCode == 0, "\(export.errors)")
        defer { try? places.archive.removeFile() }
        try unused.removeFile()
        return try places.archive.contents()
    }

    /// Changes the source at each call in turn; returns the number of calls.
    private func expectFailures(
        watching path: BytePath,
        calls: String,
        naming name: BytePath,
        _ note: String,
        change: (Places) throws -> Void
    ) async throws -> Int {
        var number = 0
        while true {
            number += 1
            let places = try makeSource()
            defer { try? FileManager.default.removeItem(at: places.source.url) }
            let target = places.source / path
            try target.setModificationTime(1_600_000_000, 5)
            let before = Thoroughness.isFull ? try archiveOfSource(places) : Data()
            let export = try FrozenExport.run(
                places,
                watching: target,
                calls: calls,
                at: number
            ) { try change(places) }
            guard let call = export.call else {
                #expect(export.exitCode == 0, "\(note): \(export.errors)")
                try places.archive.removeFile()
                return number - 1
            }
            let comment: Comment = "\(note) at call \(number), \(call): \(export.errors)"
            try await Points.attempt(note) {
                if export.exitCode == 0, Thoroughness.isFull, !isRead(call) {
                    // The change came before the first look at it, or after the last one, so the
                    // archived state existed.
                    let archive = try places.archive.contents()
                    try places.archive.removeFile()
                    let isTrue = try archive == before || archive == archiveOfSource(places)
                    #expect(isTrue, comment)
                } else {
                    try expectRefusal(export, at: call, naming: name, places, comment)
                }
            }
            if places.archive.exists { try places.archive.removeFile() }
        }
    }

    private func isRead(_ call: String) -> Bool {
        call.contains(" read(") || call.contains(" pread64(")
    }

    private func expectRefusal(
        _ export: FrozenExport,
        at call: String,
        naming name: BytePath,
        _ places: Places,
        _ comment: Comment
    ) throws {
        #expect(export.exitCode == 1, comment)
        #expect(try places.root.names() == ["source"], comment)
        let line = ": \(String(decoding: name.bytes, as: UTF8.self))"
        let isNamed = export.errors.contains(line) || !isRead(call)
        #expect(isNamed, comment)
    }

    @Test(arguments: Thoroughness.isFull ? Target.allCases : [.small, .large])
    func `notices a file that changes at any of its reads`(
        _ target: Target
    ) async throws {
        let calls = Thoroughness.isFull ? "all" : "read,pread64"
        for change in FileChange.allCases {
            let count = try await expectFailures(
                watching: target.path,
                calls: calls,
                naming: target.path,
                "\(target) file \(change)"
            ) { try apply(change, to: $0.source / target.path) }
            #expect(count >= 1)
        }
    }

    @Test(arguments: DirectoryChange.allCases)
    func `notices a directory that changes at any look into it`(
        _ change: DirectoryChange
    ) async throws {
        let calls = Thoroughness.isFull ? "all" : "flistxattr,getdents64"
        let count = try await expectFailures(
            watching: "Documents",
            calls: calls,
            naming: "Documents",
            "directory \(change)"
        ) { try apply(change, to: $0.source / "Documents") }
        #expect(count >= 3)
    }
}
