import Foundation
import TestTrees

/// Runs `migrate` on archives that try to take memory, and measures the peak of each run.
struct Bounds {
    private static let limit = 64 * 1024
    private static let frameSize = 4 << 20

    private let tools: Tools
    /// The share of an archive's possible content that there is in it: one in this many.
    private let share: Int
    private var failures = 0

    init(_ tools: Tools, _ options: inout Options) throws {
        self.tools = tools
        share = try options.number("share") ?? 1
    }

    private var archive: BytePath { tools.scratch / "archive" }
    private var out: BytePath { tools.scratch / "out" }

    /// Returns how many runs took too much memory, or ended in a wrong way.
    mutating func run() throws -> Int {
        print("".padded(to: 52) + "MiB".padded(to: -6) + "CPU".padded(to: -8))
        for tar in tars() {
            let count = max(1, tar.count / share)
            try write(count, tar.entry)
            try check("\(count) \(tar.name)", tar.words, code: tar.code)
            try out.removeAll()
        }
        let small = try OwnArchive(exportedBy: tools, size: 2 * Self.frameSize)
        let frames = (1 << 18) / share
        try small.write(pieces: frames, to: archive, tools)
        for words in [["verify", "--hashes"], ["inspect"]] {
            try check("\(frames) pieces, \(words[0])", words + [archive.text])
        }
        try check(
            "\(frames) pieces from a pipe, verify",
            ["verify", "--hashes", "-"],
            fed: archive
        )
        let empty = 1_000_000 / share
        try small.writeFirst(emptyFrames: empty, to: archive)
        try check(
            "\(empty) empty frames from a pipe, verify",
            ["verify", "-"],
            fed: archive,
            code: 65
        )
        return failures
    }

    private mutating func check(
        _ name: String,
        _ words: [String],
        fed input: BytePath? = nil,
        code: Int32 = 0
    ) throws {
        let feed = input.map { ["sh", "-c", "cat \"$0\" | \"$@\"", $0.text] } ?? []
        let (ended, kilobytes, seconds) = try tools.measure(feed + [tools.migrate] + words)
        let isRight = ended.code == code && kilobytes < Self.limit
        let figures = [Double(kilobytes) / 1024, seconds].map { String(format: "%.1f", $0) }
        print(
            name.padded(to: 52) + figures[0].padded(to: -6) + figures[1].padded(to: -6) + " s"
                + (isRight ? "" : "  WRONG")
        )
        if ended.code != code { print("  \(ended.description.suffix(300))") }
        if !isRight { failures += 1 }
    }

    // MARK: - Tar files

    /// Tar files of other programs, and how many items of a kind they hold.
    private struct Tar {
        let count: Int
        let name: String
        let words: [String]
        var code: Int32 = 0
        let entry: (Int, inout RawTar) -> Void
    }

    private func tars() -> [Tar] {
        let importing = ["import", archive.text, "--container", out.text]
        let deep = Array(repeating: String(repeating: "p", count: 250), count: 14)
            .joined(separator: "/")
        let outside = String(repeating: "/x", count: 2_000)
        let long = String(repeating: "t", count: 1_000_000)
        return [
            Tar(count: 300, name: "attributes with names of 1 MB", words: importing) {
                $1.addRecords([("SCHILY.xattr.\($0)\(long)", "x")])
                $1.add("f\($0)")
            },
            Tar(
                count: 60_000,
                name: "links that lead out, of 4,000 bytes",
                words: importing + ["--external-links", "skip"]
            ) {
                $1.addRecords([("linkpath", outside)])
                $1.add("l\($0)", type: "2")
            },
            Tar(count: 60_000, name: "directories, each twice, of 3,500 bytes", words: importing) {
                [share] in
                $1.addRecords([("path", "\(deep)/\($0 % max(1, 30_000 / share))")])
                $1.add("d", type: "5", mode: "0000755")
            },
            Tar(
                count: 60_000,
                name: "selected names of files that are not there",
                words: ["extract", archive.text, "sel", "--to", out.text],
                code: 65
            ) {
                if $0 == 0 { $1.add("sel", type: "5", mode: "0000755") }
                $1.addRecords([("linkpath", "\(deep)/\($0)")])
                $1.add("sel/\($0)", type: "1")
            },
            Tar(count: 20_000, name: "links through directories", words: importing) {
                $1.add("d\($0)", type: "5", mode: "0000755")
                $1.add("d\($0)/l", type: "2", link: "../d\($0 / 2)/../d0")
            },
            Tar(
                count: 600_000,
                name: "names in a directory",
                words: ["extract", archive.text, "--to", out.text]
            ) {
                $1.add("\($0)")
            },
            Tar(count: 1, name: "sparse file of very many parts", words: importing) {
                [share] _, tar in
                Self.addSparse((1 << 20) / share, to: &tar)
            },
        ]
    }

    private static func addSparse(_ parts: Int, to tar: inout RawTar) {
        var map = [UInt8]("\(parts)\n".utf8)
        for number in 0..<parts { map += "\(2 * number)\n1\n".utf8 }
        map += [UInt8](repeating: 0, count: (512 - map.count % 512) % 512 + parts)
        tar.addRecords([
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"),
            ("GNU.sparse.realsize", "\(2 * parts)"),
        ])
        tar.add("f", content: map)
    }

    /// Writes a compressed tar file with `count` times the entry that `entry` adds.
    private func write(_ count: Int, _ entry: (Int, inout RawTar) -> Void) throws {
        let zstd = Process()
        let pipe = Pipe()
        zstd.executableURL = URL(filePath: "/usr/bin/env")
        zstd.arguments = ["zstd", "-q", "-1", "-f", "-o", archive.text]
        zstd.standardInput = pipe
        try zstd.run()
        var tar = RawTar()
        for number in 0..<count {
            entry(number, &tar)
            guard tar.bytes.count > 1 << 20 else { continue }
            try pipe.fileHandleForWriting.write(contentsOf: tar.bytes)
            tar = RawTar()
        }
        try pipe.fileHandleForWriting.write(contentsOf: tar.ended())
        try pipe.fileHandleForWriting.close()
        zstd.waitUntilExit()
        guard zstd.terminationStatus == 0 else { throw ProofError("zstd can't compress") }
    }
}

/// A migration archive of zeros, whose frames are used to make other archives with correct hashes.
///
/// Its frames are the header's, and those of a first, a middle and a last piece.
private struct OwnArchive {
    private let frames: [Data]
    private let sizes: [UInt32]
    /// The content of the frame with the hashes, behind the magic and the size.
    private let hashes: Data
    /// The record in the index of entries of the one frame of the table of large files: piece, size
    /// and hash.
    private let largeFiles: Data

    /// Whether this frame follows the first piece, and not the last one.
    private var isBehindFirstPiece: Bool { largeFiles.prefix(4).allSatisfy { $0 == 0 } }

    /// The bytes of the totals, of the description's hash and of any hash in that frame.
    private static let (totals, description, hash) = (12..<60, 68..<100, 32)

    init(exportedBy tools: Tools, size: Int) throws {
        let (container, file) = (tools.scratch / "zeros", tools.scratch / "small")
        try container.makeDirectory()
        try (container / "f").write("")
        try (container / "f").truncate(to: size)
        try Tools.call([
            tools.migrate, "export", "--container", container.text, "--out", file.text,
        ])
        let bytes = try file.contents()
        let count = Int(bytes.littleEndian(at: bytes.count - 9))
        var (frames, sizes, start): ([Data], [UInt32], Int) = ([], [], 0)
        let table = bytes.count - 9 - 8 * count
        for index in 0..<count - 2 {
            let end = start + Int(bytes.littleEndian(at: table + 8 * index))
            frames.append(bytes[start..<end])
            sizes.append(bytes.littleEndian(at: table + 8 * index + 4))
            start = end
        }
        guard frames.count == 4 else { throw ProofError("\(frames.count) frames, not 4") }
        start += Int(bytes.littleEndian(at: table + 8 * (count - 2)))
        (self.frames, self.sizes) = (frames, sizes)
        largeFiles = Data(bytes[(start - 40)..<start])
        hashes = Data(bytes[(start + 8)..<(table - 8)])
    }

    /// Writes an archive that repeats the middle piece until there are `count`.
    func write(pieces count: Int, to path: BytePath, _ tools: Tools) throws {
        let pieces = [1] + Array(repeating: 2, count: count - 2) + [3]
        let order = [0] + pieces
        // No entry begins in any piece, and there are no windows, but the one table that the frames have.
        var index = Data(littleEndian: 0x184D_2A5C, UInt32(12 + 6 * count + largeFiles.count), 1)
        index.append(Data(count: 6 * count + 4))
        index += Data(littleEndian: 1, isBehindFirstPiece ? 0 : UInt32(count - 1))
        index += largeFiles.dropFirst(4)
        // Version 2, followed by the mark.
        var content = Data("MIGR".utf8) + Data(littleEndian: 0x1_0002, UInt32(count))
        content += hashes[Self.totals]
        let size = pieces.reduce(0) { $0 + Int(sizes[$1]) }
        content += Data(littleEndian: UInt32(truncatingIfNeeded: size), UInt32(size >> 32))
        content += hashes[Self.description]
        for piece in pieces {
            let start = Self.description.upperBound + (piece - 1) * Self.hash
            content += hashes[start..<start + Self.hash]
        }
        content += try tools.sha256(of: index)
        content += try tools.sha256(of: content)
        let integrity = Data(littleEndian: 0x184D_2A5D, UInt32(content.count)) + content
        var table = Data()
        for frame in order {
            table += Data(littleEndian: UInt32(frames[frame].count), sizes[frame])
        }
        table += Data(littleEndian: UInt32(index.count), 0, UInt32(integrity.count), 0)
        table += Data(littleEndian: UInt32(order.count + 2)) + [0] + Data(littleEndian: 0x8F92_EAB1)
        let file = try FileHandle(forWritingTo: path.url)
        try file.truncate(atOffset: 0)
        for frame in order { try file.write(contentsOf: frames[frame]) }
        try file.write(contentsOf: index + integrity)
        try file.write(contentsOf: Data(littleEndian: 0x184D_2A5E, UInt32(table.count)) + table)
        try file.close()
    }

    /// Writes the header and the first piece, followed by frames with nothing in them.
    func writeFirst(emptyFrames count: Int, to path: BytePath) throws {
        let empty: [UInt8] = [
            0x28, 0xB5, 0x2F, 0xFD, 0x24, 0, 1, 0, 0, 0x99, 0xE9, 0xD8, 0x51,
        ]
        try path.write(frames[0] + frames[1] + Data((0..<count).flatMap { _ in empty }))
    }
}

extension Tools {
    /// The hash, as a program of the system computes it.
    fileprivate func sha256(of bytes: Data) throws -> Data {
        let file = scratch / "hashed"
        try file.write(bytes)
        let digits = Array(try Tools.call(["sha256sum", file.text]).utf8.prefix(64))
        return Data(
            stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
        )
    }
}

extension Data {
    fileprivate init(littleEndian numbers: UInt32...) {
        self.init(numbers.flatMap { number in (0..<4).map { UInt8(number >> ($0 * 8) & 0xFF) } })
    }

    fileprivate func littleEndian(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[startIndex + offset + $1]) << ($1 * 8) }
    }
}
