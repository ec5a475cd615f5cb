import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import AndroidMigration

/// Random streams in which files shrank, and into which a stranger wrote headers: no file is lost
/// silently, and none of the stranger's headers becomes an entry by itself.
@Suite(.scratchDirectory) struct ShrunkStreamTests {
    /// A stream, and the parts of it that are whole.
    private struct Stream {
        var tar = RawTar()
        var whole: [String: [UInt8]] = [:]
        var shrunk: Set<String> = []
        var backups: Set<String> = []

        init(_ source: inout SeededGenerator) {
            for package in ["a", "b"].prefix(Int.random(in: 1...2, using: &source)) {
                addManifest(of: package)
                for domain in ["r", "f", "db", "sp"] {
                    for number in 0..<Int.random(in: 0...4, using: &source) {
                        add("apps/\(package)/\(domain)/\(number)", &source)
                    }
                }
            }
        }

        private mutating func addManifest(of package: String) {
            tar.add(
                "apps/\(package)/_manifest",
                content: [UInt8]("1\n\(package)\n7\n36\n\n0\n0\n".utf8)
            )
        }

        private mutating func add(_ path: String, _ source: inout SeededGenerator) {
            let size =
                Bool.random(using: &source)
                ? Int.random(in: 0...6, using: &source) * 512
                : Int.random(in: 0...4000, using: &source)
            var content = [UInt8](repeating: UInt8.random(in: 1...255, using: &source), count: size)
            let kind = Int.random(in: 0..<24, using: &source)
            if kind < 2 {
                var backup = RawTar()
                for number in 0..<Int.random(in: 1...3, using: &source) {
                    backup.add("apps/a/f/old\(number)", content: Array(content.prefix(900)))
                }
                content = Bool.random(using: &source) ? backup.ended() : backup.bytes
                backups.insert(path)
            }
            if 1..<5 ~= kind, !content.isEmpty {
                let size = content.count
                let kept = Int.random(in: 0..<size, using: &source)
                if (kept + 511) / 512 < (size + 511) / 512 {
                    var whole = RawTar()
                    whole.add(path, content: content)
                    let cut = 512 + (kept + 511) / 512 * 512
                    var bytes = Array(whole.bytes.prefix(cut))
                    for index in (512 + kept)..<cut { bytes[index] = 0 }
                    tar.append(bytes)
                    shrunk.insert(path)
                    return
                }
            }
            tar.add(path, content: content)
            whole[path] = content
        }
    }

    /// A reader's view of a stream.
    private struct Reading {
        var files: [String: ArraySlice<UInt8>] = [:]
        var lost: Set<String> = []
        var insideCount = 0

        init(_ bytes: [UInt8], isAndroidFile: Bool, _ policy: SizePolicy) async throws {
            let place = try BackupStage()
            let start = isAndroidFile ? "ANDROID BACKUP\n5\n0\nnone\n" : ""
            try place.write([UInt8](start.utf8) + bytes, to: "backup")
            let file = OpenFile(
                try FileDescriptor.openFollowingLinks(BytePath(place.url("backup").path), .reading)
            )
            let stream = try BackupStream.open(
                file,
                password: nil,
                spoolingTo: BytePath(place.url(".").path),
                on: MigrationOperation()
            )
            stream.sizePolicy = policy
            let reader = try BackupReader(stream)
            while let item = try reader.next() {
                switch item {
                case .lost(let loss): lost.insert(loss.path)
                case .entry(let entry):
                    let start = Int(entry.contentOffset)
                    let name = String(decoding: entry.path, as: UTF8.self)
                    files[name] = files[name] ?? bytes[start..<start + Int(entry.size)]
                    insideCount += entry.holder == nil ? 0 : 1
                }
            }
        }
    }

    @Test func `loses no file in silence`() async throws {
        var counts = (clean: 0, salvaged: 0, refused: 0)
        for seed in 0..<UInt64(300) {
            var source = SeededGenerator(seed: seed)
            let stream = Stream(&source)
            let bytes = stream.tar.ended()
            let reading: Reading
            var isRefused = false
            do {
                reading = try await Reading(bytes, isAndroidFile: seed % 2 == 1, .refuse)
            } catch let error as AndroidMigrationError where error.code == .unclearSizes {
                isRefused = true
                let mayBe = !stream.shrunk.isEmpty || !stream.backups.isEmpty
                #expect(mayBe, "\(seed): \(error.message)")
                reading = try await Reading(bytes, isAndroidFile: seed % 2 == 1, .salvage)
            }
            for (path, content) in stream.whole {
                let found = reading.files[path]?.elementsEqual(content) ?? false
                // A file that holds a backup is only taken apart if the person asked for it.
                let isApart =
                    isRefused && reading.lost.contains(path) && stream.backups.contains(path)
                #expect(found || isApart, "\(seed): \(path), \(isRefused), \(reading.lost)")
            }
            for path in stream.shrunk {
                let isSaid = reading.lost.contains(path) && !reading.files.keys.contains(path)
                #expect(isSaid, "\(seed): \(path), \(isRefused), \(reading.lost)")
            }
            let isTakenApart = reading.files.keys.contains { $0.hasPrefix("apps/a/f/old") }
            #expect(isRefused || !isTakenApart, "\(seed)")
            if isRefused {
                counts.refused += 1
            } else if reading.lost.isEmpty {
                counts.clean += 1
                #expect(reading.insideCount == 0)
            } else {
                counts.salvaged += 1
            }
        }
        // Each outcome occurs, so the test covers all of them.
        #expect(counts.clean > 20 && counts.salvaged > 20 && counts.refused > 5, "\(counts)")
    }

    @Test func `finds no header behind the end of a file that was cut off meanwhile`() throws {
        let path = try BytePath.scratch / "stream"
        try path.write(Data(repeating: 0x75, count: 1000))
        let file = OpenFile(try FileDescriptor.open(path, .reading))
        let reader = try BackupReader(BackupStream(file: file, size: 4000))
        #expect(try reader.findHeader(from: 2000) == nil)
    }
}
