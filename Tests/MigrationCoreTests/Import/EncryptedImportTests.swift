import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Imports of encrypted archives that were changed.
@Suite(.scratchDirectory, .points)
struct EncryptedImportTests {
    private static let identity =
        "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
    private static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"

    private static var decryption: ArchiveDecryption {
        get throws {
            var decryption = ArchiveDecryption()
            var text = [UInt8](identity.utf8)
            try decryption.addIdentities(wiping: &text)
            return decryption
        }
    }

    /// A container that holds data, and an encrypted archive to replace it with.
    private func places(noise: Int) async throws -> (Places, TreeSnapshot, Data) {
        let places = try await Places.withSmallArchive()
        if noise > 0 { try (places.source / "noise").write(VariedTree.noise(noise)) }
        _ = try await MigrationHost().export(
            MigrationDataContainer(atPath: places.source),
            to: .file(path: places.archive, replacesExisting: true)
                .encrypted(with: .recipients([Self.recipient]))
        )
        let old = try places.makeOldDestination()
        return (places, old, try places.archive.contents())
    }

    /// Imports `bytes`, which must be refused, from a file and from a pipe.
    private func expectRefusal(
        of bytes: Data,
        _ places: Places,
        _ old: TreeSnapshot,
        _ comment: Comment
    ) async throws {
        try places.archive.write(bytes)
        let pipe = Pipe()
        let isSmall = bytes.count <= 60_000
        if isSmall {
            try pipe.fileHandleForWriting.write(contentsOf: bytes)
        }
        try pipe.fileHandleForWriting.close()
        var sources = [ArchiveSource.file(path: places.archive)]
        if isSmall { sources.append(.descriptor(pipe.fileHandleForReading.fileDescriptor)) }
        for source in sources {
            var options = ImportOptions()
            options.replacesExisting = true
            await #expect(throws: ArchiveError.self, comment) {
                try await MigrationHost().import(
                    source.decrypted(with: Self.decryption),
                    into: MigrationDataContainer(atPath: places.destination),
                    options: options
                )
            }
        }
        #expect(try places.contents(of: places.destination).differences(from: old) == [], comment)
        #expect(try places.root.names() == ["app.migration", "destination", "source"], comment)
    }

    @Test func `changes nothing where a bit is flipped or bytes are missing`() async throws {
        let (places, old, whole) = try await places(noise: 0)
        let step = Thoroughness.step(31)
        for bit in stride(from: 0, to: whole.count * 8, by: step) {
            var changed = whole
            changed[changed.startIndex + bit / 8] ^= 1 << (bit % 8)
            try await Points.attempt("encrypted archive with a bit flipped, imported") {
                try await expectRefusal(of: changed, places, old, "bit \(bit)")
            }
        }
        for count in stride(from: 0, to: whole.count, by: step) {
            try await Points.attempt("encrypted archive cut off, imported") {
                try await expectRefusal(of: whole.prefix(count), places, old, "cut at \(count)")
            }
        }
        // The same archive, unchanged, is taken.
        try places.archive.write(whole)
        var options = ImportOptions()
        options.replacesExisting = true
        _ = try await MigrationHost().import(
            .file(path: places.archive).decrypted(with: Self.decryption),
            into: MigrationDataContainer(atPath: places.destination),
            options: options
        )
        #expect(try (places.destination / "top").contents() == Data("top".utf8))
    }

    @Test func `changes nothing where chunks are swapped, repeated or left out`() async throws {
        let (places, old, whole) = try await places(noise: 300_000)
        let mark = try #require(whole.range(of: Data("\n--- ".utf8)))
        let start = mark.lowerBound + 49 + 16
        let chunk = 65_552
        let chunks = stride(from: start, to: whole.count, by: chunk).map {
            whole[$0..<min($0 + chunk, whole.count)]
        }
        #expect(chunks.count == 5)
        let orders = [
            [1, 0, 2, 3, 4], [0, 0, 1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 2, 3], [4], [0],
        ]
        for order in orders {
            let changed = order.reduce(Data(whole[..<start])) { $0 + chunks[$1] }
            try await expectRefusal(of: changed, places, old, "\(order)")
        }
    }
}
