import Foundation
import MigrationArchive
import MigrationCore
import Synchronization
import TestSupport
import Testing

/// Comparing files that fill whole pieces of the archive.
///
/// The first file of an archive begins with a header of 512 bytes, so the first piece holds 512
/// bytes less of the file.
@Suite(.scratchDirectory)
struct LargeFileComparisonTests {
    private static let piece = 4 << 20
    private static let header = 512

    /// Bytes without two equal pieces.
    private static func content(_ count: Int) -> Data {
        let block = VariedTree.noise(65_521)
        var data = Data(capacity: count + block.count)
        while data.count < count { data.append(block) }
        return data.prefix(count)
    }

    private func rows(
        _ places: Places,
        only paths: [String] = [],
        from source: ArchiveSource? = nil,
        progress: Progress? = nil,
        _ body: @escaping @Sendable () -> Void = {}
    ) async throws -> [String] {
        try await places.differences(at: paths, of: source, progress: progress, body)
            .map { "\($0.path) \($0.kind.rawValue) \($0.detail)" }
    }

    /// The differences in the file `f` by each way to read the archive, which must be the same.
    private func rowsByEveryWay(_ places: Places) async throws -> [String] {
        let rows = try await rows(places)
        #expect(try await self.rows(places, only: ["f"]) == rows)
        let pipe = Pipe()
        let sender = Process()
        sender.executableURL = URL(filePath: "/bin/cat")
        sender.arguments = [places.archive.text]
        sender.standardOutput = pipe
        try sender.run()
        let input = ArchiveSource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        #expect(try await self.rows(places, from: input) == rows)
        sender.waitUntilExit()
        return rows
    }

    /// Changes one byte of a file and leaves its time.
    private func flip(_ path: BytePath, at offset: Int) throws {
        let descriptor = path.withPointer { open($0, O_RDWR | O_CLOEXEC) }
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        try #require(pread(descriptor, &byte, 1, off_t(offset)) == 1)
        byte ^= 1
        try #require(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
        try path.setModificationTime(1_000, 1)
    }

    private func places(_ content: Data) async throws -> Places {
        let places = try Places()
        try (places.source / "f").write(content)
        try (places.source / "f").setModificationTime(1_000, 1)
        try await places.exportSource()
        try await places.importArchive()
        return places
    }

    private static let sizes: [Int] = {
        let borders = [64 << 10, piece - header, piece, 2 * piece - header, 3 * piece - header]
        return borders.flatMap { [$0 - 1, $0, $0 + 1] } + [2 * piece - header - 511]
    }()

    @Test(arguments: sizes)
    func `finds a byte that differs where a piece begins or ends`(_ size: Int) async throws {
        let places = try await places(Self.content(size))
        let file = places.destination / "f"
        #expect(try await rowsByEveryWay(places) == [])
        var offsets: Set<Int> = [0, size - 1]
        for end in stride(from: Self.piece - Self.header, to: size, by: Self.piece) {
            offsets.formUnion([end - 1, end])
        }
        for offset in offsets {
            try flip(file, at: offset)
            let expected = ["f content the first difference is at byte \(offset)"]
            #expect(try await rows(places) == expected)
            #expect(try await rows(places, only: ["f"]) == expected)
            try flip(file, at: offset)
        }
        #expect(try await rows(places) == [])
    }

    @Test func `names the first of many differences`() async throws {
        let places = try await places(Self.content(5 * Self.piece))
        let file = places.destination / "f"
        for offset in [19_000_000, 9_000_000, 13_000_000] {
            try flip(file, at: offset)
            let expected = ["f content the first difference is at byte \(min(offset, 9_000_000))"]
            guard offset != 19_000_000 else { continue }
            #expect(try await rowsByEveryWay(places) == expected)
        }
        let size = 5 * Self.piece
        try file.truncate(to: size - 1)
        try file.setModificationTime(1_000, 1)
        let expected = ["f content \(size) bytes in the archive, \(size - 1) in the container"]
        #expect(try await rowsByEveryWay(places) == expected)
    }

    /// An archive of one file that fills the second and third piece; the third is damaged.
    private func damagedPlaces() async throws -> Places {
        let places = try await places(Self.content(3 * Self.piece + 100_000))
        var archive = try places.archive.contents()
        archive[archive.count * 10 / 13] ^= 1
        try places.archive.write(archive)
        await #expect(throws: ArchiveError.self) {
            try await ArchiveSource.file(path: places.archive).verify()
        }
        return places
    }

    @Test func `reads no piece that holds nothing but content that is equal`() async throws {
        let places = try await damagedPlaces()
        let file = places.destination / "f"
        #expect(try await rows(places) == [])
        #expect(try await rows(places, only: ["f"]) == [])
        // A difference before the damaged piece is found, and nothing after it is read.
        try flip(file, at: 5_000_000)
        let expected = ["f content the first difference is at byte 5000000"]
        #expect(try await rows(places) == expected)
        try flip(file, at: 5_000_000)
        // If the damaged piece holds the difference, it is read.
        try flip(file, at: 9_000_000)
        await #expect(throws: ArchiveError.self) { try await rows(places) }
        await #expect(throws: ArchiveError.self) { try await rows(places, only: ["f"]) }
    }

    @Test func `reads no content where the size or the kind differs`() async throws {
        let places = try await damagedPlaces()
        let file = places.destination / "f"
        try file.append("more")
        #expect(try await rows(places).count == 2)
        try file.removeFile()
        #expect(try await rows(places) == ["f onlyInArchive "])
        try file.makeSymbolicLink(to: "elsewhere")
        let kinds = "a file in the archive, a symbolic link in the container"
        #expect(try await rows(places) == ["f kind \(kinds)"])
    }

    @Test func `compares holes with zeros, and zeros with holes`() async throws {
        let size = 5 * Self.piece
        var content = Data(count: size)
        content.replaceSubrange(9_000_000..<9_000_007, with: Data("content".utf8))
        let places = try await places(content)
        let file = places.destination / "f"
        try file.write(content)
        try file.setModificationTime(1_000, 1)
        #expect(try await rowsByEveryWay(places) == [])
        try file.write(content.prefix(9_000_007))
        try file.truncate(to: size)
        try file.setModificationTime(1_000, 1)
        #expect(try await rowsByEveryWay(places) == [])
        try flip(file, at: 17_000_000)
        #expect(
            try await rowsByEveryWay(places) == [
                "f content the first difference is at byte 17000000"
            ]
        )
    }

    @Test func `compares what follows a large file, and its other names`() async throws {
        let places = try Places()
        let content = Self.content(3 * Self.piece)
        try (places.source / "f").write(content)
        try (places.source / "g").makeHardLink(to: places.source / "f")
        try (places.source / "h").write("small")
        try (places.source / "i").write(content + Data([1]))
        for name: BytePath in ["f", "h", "i"] {
            try (places.source / name).setModificationTime(1_000, 1)
        }
        try await places.exportSource()
        try await places.importArchive()
        #expect(try await rows(places) == [])
        try flip(places.destination / "g", at: 7_000_000)
        try flip(places.destination / "h", at: 0)
        try flip(places.destination / "i", at: 3 * Self.piece)
        #expect(
            try await rows(places).sorted() == [
                "f content the first difference is at byte 7000000",
                "h content the first difference is at byte 0",
                "i content the first difference is at byte \(3 * Self.piece)",
            ]
        )
    }

    @Test func `compares an encrypted archive in the same way`() async throws {
        let places = try Places()
        let size = 4 * Self.piece
        try (places.source / "f").write(Self.content(size))
        try (places.source / "f").setModificationTime(1_000, 1)
        let identity =
            "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
        let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"
        _ = try await MigrationHost().export(
            MigrationDataContainer(atPath: places.source),
            to: .file(path: places.archive, replacesExisting: false)
                .encrypted(with: .recipients([recipient]))
        )
        var decryption = ArchiveDecryption()
        var text = [UInt8](identity.utf8)
        try decryption.addIdentities(wiping: &text)
        let source = ArchiveSource.file(path: places.archive).decrypted(with: decryption)
        _ = try await MigrationHost().import(source, into: places.destinationContainer)
        #expect(try await rows(places, from: source) == [])
        var archive = try places.archive.contents()
        archive[archive.count * 10 / 16] ^= 1
        try places.archive.write(archive)
        #expect(try await rows(places, from: source) == [])
        #expect(try await rows(places, only: ["f"], from: source) == [])
        try flip(places.destination / "f", at: 5_000_000)
        #expect(
            try await rows(places, from: source) == [
                "f content the first difference is at byte 5000000"
            ]
        )
    }

    @Test(arguments: [[], ["b"]] as [[String]])
    func `shows how far it is`(_ paths: [String]) async throws {
        let places = try Places()
        for name: BytePath in ["a", "b", "c"] {
            try (places.source / name).write(VariedTree.noise(9_000_000))
            try (places.source / name).setModificationTime(1_000, 1)
        }
        try await places.exportSource()
        try await places.importArchive()
        try flip(places.destination / "b", at: 8_999_999)
        let progress = Progress(totalUnitCount: -1)
        let seen = Mutex<Double>(0)
        let rows = try await rows(places, only: paths, progress: progress) {
            seen.withLock { $0 = progress.fractionCompleted }
        }
        #expect(rows == ["b content the first difference is at byte 8999999"])
        // The file ends after two thirds of the archive.
        #expect((0.6...0.8).contains(seen.withLock { $0 }))
        #expect(progress.fractionCompleted == 1)
    }
}
