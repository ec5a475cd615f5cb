import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// A damaged archive is never taken for another one, however it is read.
///
/// No hash covers the bits that zstd leaves unused in a frame; a flipped bit there changes nothing.
@Suite(.scratchDirectory)
struct ArchiveDamageTests {
    private static let items = [
        Item(.directory("d", time: FileTime(seconds: 5, nanoseconds: 999_999_999))),
        Item("d/a", [UInt8]("some words".utf8)),
        Item(.symbolicLink("d/l", to: "a")),
    ]

    /// Reads all of `bytes` by `route`; returns the code of the error that must end it.
    private func failure(_ bytes: [UInt8], _ route: TestArchive.Route) -> ArchiveError.Code? {
        do {
            _ = try TestArchive(bytes: bytes).items(route, threadCount: 1)
            return nil
        } catch {
            return (error as? ArchiveError)?.code
        }
    }

    private func expectDamage(
        _ bytes: [UInt8],
        _ note: String,
        location: SourceLocation = #_sourceLocation
    ) {
        for route in TestArchive.Route.allCases {
            let code = failure(bytes, route)
            #expect(
                code == .damaged || code == .truncated,
                "\(note) by \(route)",
                sourceLocation: location
            )
        }
        for route in [TestArchive.Route.wholeFile, .pipe] {
            #expect(throws: ArchiveError.self, "verifying \(note)", sourceLocation: location) {
                try TestArchive(bytes: bytes).verify(route)
            }
        }
    }

    @Test func `fails at every truncation`() throws {
        let bytes = try TestArchive(Self.items).bytes
        for count in 0..<bytes.count {
            let cut = [UInt8](bytes.prefix(count))
            for route in [TestArchive.Route.selectiveFile, .pipe] {
                let code = failure(cut, route)
                let isEmpty = count < 4
                #expect(
                    code == (isEmpty ? .notAnArchive : .truncated) || code == .damaged,
                    "\(count) bytes by \(route)"
                )
            }
            #expect(throws: ArchiveError.self) { try TestArchive(bytes: cut).verify() }
        }
    }

    /// Whether `route` refuses an archive that differs by a bit, or reads the same as `sound`.
    private func isHarmless(
        _ bytes: [UInt8],
        _ sound: TestArchive,
        _ route: TestArchive.Route
    ) throws -> Bool {
        do {
            let reader = try TestArchive(bytes: bytes).reader(route, threadCount: 1)
            guard try reader.items() == Self.items else { return false }
            return reader.header == .sample && reader.fingerprint == sound.summary?.fingerprint
        } catch is ArchiveError {
            return true
        }
    }

    @Test func `takes no flipped bit of a file for anything else`() throws {
        let archive = try TestArchive(Self.items)
        for position in archive.bytes.indices {
            for bit in Thoroughness.bits(at: position) {
                var flipped = archive.bytes
                flipped[position] ^= 1 << bit
                let note = Comment("bit \(bit) of byte \(position)")
                #expect(try isHarmless(flipped, archive, .selectiveFile), note)
            }
        }
    }

    @Test(arguments: [TestArchive.Route.wholeFile, .pipe])
    func `takes no flipped bit for anything else`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        for position in archive.bytes.indices {
            var flipped = archive.bytes
            flipped[position] ^= 1 << (position % 8)
            #expect(try isHarmless(flipped, archive, route), "byte \(position)")
        }
    }

    /// Outside of what zstd compressed, every bit counts.
    @Test func `fails at every flipped bit of a stored archive`() throws {
        let bytes = try TestArchive(Self.items, header: .storedSample).bytes
        for position in bytes.indices {
            for bit in Thoroughness.bits(at: position) {
                var flipped = bytes
                flipped[position] ^= 1 << bit
                #expect(failure(flipped, .selectiveFile) != nil, "bit \(bit) of byte \(position)")
            }
        }
    }

    @Test func `refuses bytes behind the end`() throws {
        let bytes = try TestArchive(Self.items).bytes
        for tail in [[0], [UInt8](repeating: 0, count: 512), bytes, Array(bytes.suffix(33))] {
            expectDamage(bytes + tail, "\(tail.count) more bytes")
        }
    }

    @Test func `refuses frames that are swapped, dropped, repeated or of another archive`() throws {
        // Repeats well, so that all of it fits in a pipe.
        let size = 3 * FrameFormat.chunkSize
        let archive = try TestArchive([Item("a", text(size)), Item("z", [1])])
        let (header, frames, end) = try archive.parts
        #expect(frames.count == 4)
        func join(_ frames: [[UInt8]], _ end: [UInt8]) -> [UInt8] {
            header + frames.flatMap(\.self) + end
        }
        expectDamage(join([frames[0], frames[2], frames[1], frames[3]], end), "two frames swapped")
        expectDamage(join([frames[0], frames[1], frames[3]], end), "a frame dropped")
        let repeated = [frames[0], frames[1], frames[1], frames[2], frames[3]]
        expectDamage(join(repeated, end), "a frame repeated")
        for route in TestArchive.Route.allCases {
            #expect(failure(header + join(frames, end), route) != nil, "the header repeated")
        }

        var other = text(size)
        other[size / 2] ^= 1
        let (_, otherFrames, otherEnd) = try TestArchive([Item("a", other), Item("z", [1])]).parts
        let mixed = [frames[0], otherFrames[1], frames[2], frames[3]]
        expectDamage(join(mixed, end), "a frame of another archive")
        expectDamage(join(frames, otherEnd), "the index of another archive")
    }

    @Test func `refuses the header of another archive`() throws {
        let size = FrameFormat.chunkSize
        let header = ArchiveHeader(
            bundleIdentifier: "org.example.other",
            platform: "linux",
            resourcesVersion: "1",
            sizeEstimate: 0,
            isCompressible: true,
            creator: "tests"
        )
        let (_, frames, end) = try TestArchive([Item("a", text(size))]).parts
        let other = try TestArchive([Item("a", text(size))], header: header).parts.header
        expectDamage(other + frames.flatMap(\.self) + end, "another header")
    }

    @Test func `refuses an archive that another compressor wrote again`() throws {
        let (header, frames, end) = try TestArchive(Self.items).parts
        let start = header + frames[0]
        expectDamage(start, "an archive without its end")
        expectDamage(start + end.suffix(41), "an archive without its hashes")
        expectDamage(start + end.dropLast(41), "an archive without its seek table")
    }
}

// MARK: - An archive of 20 KB, changed in place

/// Every bit and every length.
///
/// Unless everything is asked for, one bit of each byte is flipped, and every one of the end.
extension ArchiveDamageTests {
    private static let longItems = [
        Item(.directory("d", time: FileTime(seconds: 5, nanoseconds: 123_456_789))),
        Item(.symbolicLink("d/link", to: "text")),
        Item("d/noise", noise(19_000)), Item("d/text", text(9_000)),
    ]

    /// Writes an archive of 20 KB into a file; returns the file and the archive's bytes.
    private func makeArchive() throws -> (file: OpenFile, bytes: [UInt8]) {
        let bytes = try TestArchive(Self.longItems).bytes
        #expect(bytes.count > 19_000)
        let path = try Scratch.newPath()
        let file = OpenFile(try FileDescriptor.open(path, .creating(permissions: 0o600)))
        try file.descriptor.writeAll(bytes.span)
        return (file, bytes)
    }

    /// Reads the archive in `file` to its end; `nil` if it is refused.
    private func read(_ file: OpenFile) throws -> [Item]? {
        do {
            let input = try ArchiveInput(
                reading: file.descriptor.duplicate(),
                on: MigrationOperation()
            )
            return try ArchiveReader(input, access: .selective).items()
        } catch is ArchiveError {
            return nil
        }
    }

    private func isRefused(_ file: OpenFile) throws -> Bool { try read(file) == nil }

    @Test func `takes no flipped bit of 20 KB for anything else`() throws {
        let (file, bytes) = try makeArchive()
        #expect(try read(file) == Self.longItems)
        var (tried, taken) = (0, 0)
        for position in bytes.indices {
            let isInEnd = position > bytes.count - 300
            // Seven is prime to eight, so each bit of a byte is tried somewhere.
            guard isInEnd || position.isMultiple(of: Thoroughness.step(7)) else { continue }
            let bits = isInEnd ? 0..<8 : Thoroughness.bits(at: position)
            for bit in bits {
                let flipped = [bytes[position] ^ 1 << UInt8(bit)]
                try file.descriptor.writeAll(flipped.span, at: UInt64(position))
                tried += 1
                let items = try read(file)
                if items == nil || items == Self.longItems { continue }
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
        // Longer ones first, because the cut-off part comes back as zeros.
        let shorter = stride(from: bytes.count - 1, through: 0, by: -1)
            .filter { $0 > bytes.count - 300 || $0.isMultiple(of: Thoroughness.step(11)) }
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
