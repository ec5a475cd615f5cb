import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// Every bit and every length of an archive of 20 KB.
///
/// Where not everything is asked for, one bit of each byte is flipped, and every one of the end.
@Suite(.scratchDirectory)
struct EveryBitTests {
    private static let items = [
        Item(.directory("d")), Item(.symbolicLink("d/link", to: "text")),
        Item("d/noise", noise(19_000)), Item("d/text", text(9_000)),
    ]

    /// Writes an archive of 20 KB into a file; returns the file and the archive's bytes.
    private func makeArchive() throws -> (file: OpenFile, bytes: [UInt8]) {
        let bytes = try TestArchive(Self.items).bytes
        #expect(bytes.count > 19_000)
        let path = try Scratch.newPath()
        let file = OpenFile(try FileDescriptor.open(path, .creating(permissions: 0o600)))
        try file.descriptor.writeAll(bytes.span)
        return (file, bytes)
    }

    /// Whether the archive in `file` is refused before it comes to its end.
    private func isRefused(_ file: OpenFile) throws -> Bool {
        do {
            let input = try ArchiveInput(
                reading: file.descriptor.duplicate(),
                cancellation: CancellationFlag()
            )
            let reader = try ArchiveReader(input, access: .selective)
            while try reader.next() != nil {}
            return false
        } catch is ArchiveError {
            return true
        }
    }

    @Test func `refuses every flipped bit`() throws {
        let (file, bytes) = try makeArchive()
        #expect(try !isRefused(file))
        var (tried, taken) = (0, 0)
        for position in bytes.indices {
            let isInEnd = position > bytes.count - 300
            let bits = Thoroughness.isFull || isInEnd ? 0..<8 : position % 8..<position % 8 + 1
            for bit in bits {
                let flipped = [bytes[position] ^ 1 << UInt8(bit)]
                try file.descriptor.writeAll(flipped.span, at: UInt64(position))
                tried += 1
                if try isRefused(file) { continue }
                taken += 1
                Issue.record("bit \(bit) of byte \(position)")
            }
            let whole = [bytes[position]]
            try file.descriptor.writeAll(whole.span, at: UInt64(position))
        }
        Points.note("bit of the archive flipped", tried: tried, failed: taken)
        #expect(try !isRefused(file))
    }

    @Test func `refuses every length but its own`() throws {
        let (file, bytes) = try makeArchive()
        // Longer ones first: what is cut off comes back as zeros.
        let shorter = stride(from: bytes.count - 1, through: 0, by: -1)
        let sizes = [bytes.count + 1, bytes.count + 512] + shorter
        var taken = 0
        for size in sizes {
            try file.descriptor.setSize(UInt64(size))
            if try isRefused(file) { continue }
            taken += 1
            Issue.record("\(size) of \(bytes.count) bytes")
        }
        Points.note("archive of another length", tried: sizes.count, failed: taken)
    }
}
