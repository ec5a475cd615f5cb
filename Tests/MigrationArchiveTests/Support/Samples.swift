import MigrationSystem

@testable import MigrationArchive

extension ArchiveHeader {
    /// A header for tests.
    static let sample = ArchiveHeader(
        bundleIdentifier: "org.example.notes",
        platform: "linux",
        resourcesVersion: "1",
        sizeEstimate: 0,
        isCompressible: true,
        creator: "tests"
    )
}

extension ArchiveHeader {
    /// ``sample`` for an archive that holds `extra`.
    static func sample(holding extra: ExtraMetadata) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: "org.example.notes",
            platform: "linux",
            resourcesVersion: "1",
            sizeEstimate: 0,
            isCompressible: true,
            creator: "tests",
            extraMetadata: extra
        )
    }

    /// ``sample`` for an archive whose content is stored.
    static let storedSample = ArchiveHeader(
        bundleIdentifier: "org.example.notes",
        platform: "linux",
        resourcesVersion: "1",
        sizeEstimate: 0,
        isCompressible: false,
        creator: "tests"
    )
}

extension HeaderFrame {
    /// The frame of ``ArchiveHeader/sample``.
    static var sample: HeaderFrame { get throws { try HeaderFrame(of: .sample) } }
}

extension ArchiveEntry {
    /// The time that entries of tests have unless they say otherwise.
    static let sampleTime = FileTime(seconds: 1_700_000_000)

    static func file(
        _ path: String,
        size: Int = 0,
        permissions: UInt16 = 0o644,
        time: FileTime = sampleTime,
        attributes: [ExtendedAttribute] = [],
        owner: FileOwner? = nil
    ) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: .file(size: UInt64(size)),
            permissions: permissions,
            modificationTime: time,
            extendedAttributes: attributes,
            owner: owner
        )
    }

    static func directory(
        _ path: String,
        permissions: UInt16 = 0o755,
        time: FileTime = sampleTime
    ) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: .directory,
            permissions: permissions,
            modificationTime: time
        )
    }

    static func symbolicLink(_ path: String, to target: String) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: .symbolicLink(target: [UInt8](target.utf8)),
            permissions: 0o777,
            modificationTime: sampleTime
        )
    }

    static func hardLink(_ path: String, to target: String) -> ArchiveEntry {
        ArchiveEntry(
            path: EntryPath(path),
            kind: .hardLink(target: EntryPath(target)),
            permissions: 0o644,
            modificationTime: sampleTime
        )
    }
}

/// Bytes that look random and are the same in every run.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    let words = (0..<(count + 7) / 8).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
    return words.withUnsafeBytes { [UInt8]($0.prefix(count)) }
}

/// A text of `count` bytes that compresses well.
func text(_ count: Int) -> [UInt8] {
    let line = [UInt8]("The quick brown fox jumps over the lazy dog, and on it goes.\n".utf8)
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += line }
    return [UInt8](bytes.prefix(count))
}

extension EntryIndexBuilder {
    /// Adds a file of `size` bytes in a window of its own.
    mutating func add(_ path: EntryPath, at offset: UInt64, size: Int = 0) {
        let entry = ArchiveEntry(
            path: path,
            kind: .file(size: UInt64(size)),
            permissions: 0o644,
            modificationTime: ArchiveEntry.sampleTime
        )
        _ = add(entry, offset: offset, place: .first)
    }
}
