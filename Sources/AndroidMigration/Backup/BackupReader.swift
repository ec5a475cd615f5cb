internal import MigrationArchive

/// One entry of a backup's tar stream, according to its headers.
package struct BackupEntry: Sendable {
    package let path: [UInt8]
    package let typeFlag: UInt8
    package let size: UInt64
    package let permissions: UInt16
    package let modificationTime: Int64

    /// Where its content begins in the stream.
    package let contentOffset: UInt64
}

/// An item that the stream announces but does not contain.
package struct LostEntry: Hashable, Sendable {
    /// The path, as it may be printed.
    package let path: String

    /// Its size in bytes; `nil` if unknown.
    package let size: UInt64?

    /// Why it is lost.
    package let reason: String
}

/// Reads the tar stream of a backup and continues after damage.
///
/// Android looks up a file's size before reading it: a file that shrinks in between leaves an entry
/// that is too short, and all later headers are out of place. If there is no header at the end of an
/// entry, the reader searches for the next one in its content and reports the entry as lost.
package final class BackupReader {
    package enum Item {
        case entry(BackupEntry)
        case lost(LostEntry)
    }

    private static let blockSize: UInt64 = 512
    /// The largest pax header; Android itself accepts 32 KiB (TarBackupReader).
    private static let extensionLimit: UInt64 = 1 << 20

    /// The most headers before that of an entry; Android writes one.
    private static let extensionCountLimit = 16

    private let stream: BackupStream
    private let cancellation: CancellationCheck
    private var position: UInt64 = 0
    private var isAndroid = true
    private var reportedDamage = false
    /// Zeros that were already read, so that they aren't read again for each entry.
    private var zeros: Range<UInt64> = 0..<0

    /// Throws if the operation should stop; long searches call it regularly.
    package typealias CancellationCheck = () throws -> Void

    package init(_ stream: BackupStream, cancellation: @escaping CancellationCheck = {}) throws {
        self.stream = stream
        self.cancellation = cancellation
        if stream.size >= Self.blockSize { isAndroid = hasAndroidName(try block(at: 0)) }
    }

    /// Returns the next entry or loss; `nil` at the end.
    package func next() throws -> Item? {
        try cancellation()
        while position + Self.blockSize <= stream.size {
            let start = position
            let first = try block(at: start)
            if first.isZero {
                position = try firstContent(from: start) ?? stream.size
                continue
            }
            guard isPlausible(first) else { return .lost(try skipDamage(from: start)) }
            guard let header = try header(at: start) else {
                return .lost(try skipDamage(from: start))
            }
            let end = header.contentOffset + Self.padded(header.size)
            if let next = try nestedHeader(in: header, before: end) {
                position = next
                return .lost(loss(of: header, foundAt: next))
            }
            position = min(end, stream.size)
            return .entry(header)
        }
        if position < stream.size {
            let rest = try stream.read(at: position, count: Int(stream.size - position))
            position = stream.size
            if rest.contains(where: { $0 != 0 }) {
                let reason = "the backup ends within a header"
                return .lost(LostEntry(path: "the last entry", size: nil, reason: reason))
            }
        }
        if let damage = stream.damage, !reportedDamage {
            reportedDamage = true
            return .lost(LostEntry(path: "the rest of the backup", size: nil, reason: damage))
        }
        return nil
    }
}

// MARK: - Headers

extension BackupReader {
    private static func padded(_ size: UInt64) -> UInt64 {
        (size + blockSize - 1) & ~(blockSize - 1)
    }

    private func block(at offset: UInt64) throws -> UstarBlock {
        UstarBlock(copying: try stream.read(at: offset, count: Int(Self.blockSize)))
    }

    private func hasAndroidName(_ block: UstarBlock) -> Bool {
        [UstarBlock.Field.name, UstarBlock.Field.prefix].contains { field in
            let text = block.text(at: field)
            return ["apps/", "shared/", "PaxHeader"].contains { text.starts(with: $0.utf8) }
        }
    }

    /// Whether the block may be a header where one is expected.
    private func isPlausible(_ block: UstarBlock) -> Bool {
        block.hasValidChecksum
            || (block.isPOSIX && hasAndroidName(block)
                && block.number(at: UstarBlock.Field.size) != nil)
    }

    /// Whether the block is certainly a header, even where none is expected.
    private func isHeader(_ block: UstarBlock) -> Bool {
        guard block.isPOSIX, block.hasValidChecksum, !block.isZero else { return false }
        return isAndroid ? hasAndroidName(block) : true
    }

    /// Reads the header at `offset` with those that extend it; `nil` if they are damaged.
    private func header(at offset: UInt64) throws -> BackupEntry? {
        var offset = offset
        var (path, size): ([UInt8]?, UInt64?) = (nil, nil)
        for _ in 0...Self.extensionCountLimit where offset + Self.blockSize <= stream.size {
            let block = try block(at: offset)
            guard isPlausible(block), let number = block.number(at: UstarBlock.Field.size),
                number >= 0
            else { return nil }
            let stored = UInt64(number)
            let content = offset + Self.blockSize
            switch block[UstarBlock.Field.typeFlag] {
            case TypeFlag.extendedHeader:
                guard let records = try records(at: content, stored) else { return nil }
                for record in records.records {
                    switch String(decoding: record.key, as: UTF8.self) {
                    case "path": path = record.value
                    case "size":
                        size = UInt64(String(decoding: record.value, as: UTF8.self))
                        if size == nil { return nil }
                    default: break
                    }
                }
            case TypeFlag.gnuLongName:
                guard stored <= Self.extensionLimit, content + stored <= stream.size else {
                    return nil
                }
                path = [UInt8](try stream.read(at: content, count: Int(stored)).prefix { $0 != 0 })
            case TypeFlag.gnuLongLink, TypeFlag.globalHeader: break
            default: return entry(of: block, at: path, size: size ?? stored, content: content)
            }
            let (next, overflow) = content.addingReportingOverflow(Self.padded(stored))
            guard !overflow, stored <= Self.extensionLimit else { return nil }
            offset = next
        }
        return nil
    }

    private func records(at offset: UInt64, _ size: UInt64) throws -> PaxRecords? {
        guard size <= Self.extensionLimit, offset + size <= stream.size else { return nil }
        let bytes = [UInt8](try stream.read(at: offset, count: Int(size)))
        // Whatever the problem, the entry can't be read.
        return try? PaxRecords(parsing: bytes)
    }

    private func entry(
        of block: UstarBlock,
        at path: [UInt8]?,
        size: UInt64,
        content: UInt64
    ) -> BackupEntry? {
        let flag = block[UstarBlock.Field.typeFlag]
        let hasContent = ![
            TypeFlag.directory, TypeFlag.symbolicLink, TypeFlag.hardLink, TypeFlag.fifo,
            TypeFlag.characterDevice, TypeFlag.blockDevice,
        ].contains(flag)
        guard size <= UInt64(Int64.max) / 2 else { return nil }
        let prefix = block.isPOSIX ? block.text(at: UstarBlock.Field.prefix) : []
        let name = block.text(at: UstarBlock.Field.name)
        return BackupEntry(
            path: path ?? (prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name),
            typeFlag: flag,
            size: hasContent ? size : 0,
            permissions: UInt16(
                truncatingIfNeeded: (block.number(at: UstarBlock.Field.mode) ?? 0o600) & 0o777
            ),
            modificationTime: block.number(at: UstarBlock.Field.modificationTime) ?? 0,
            contentOffset: content
        )
    }
}

// MARK: - Damage

extension BackupReader {
    /// Finds the next header in the content of `entry`, which ends at `end`.
    private func nestedHeader(in entry: BackupEntry, before end: UInt64) throws -> UInt64? {
        guard entry.contentOffset + entry.size <= stream.size else {
            return try findHeader(from: entry.contentOffset, to: stream.size) ?? stream.size
        }
        guard end + Self.blockSize <= stream.size else { return nil }
        let next = try block(at: end)
        if next.isZero {
            // Zeros end a stream; if anything follows, they may be a file's content.
            guard try firstContent(from: end) != nil else { return nil }
        } else if isPlausible(next) {
            return nil
        }
        return try findHeader(from: entry.contentOffset, to: end)
    }

    private func loss(of entry: BackupEntry, foundAt next: UInt64) -> LostEntry {
        let found = next - entry.contentOffset
        return LostEntry(
            path: PrintableText.escaping(entry.path),
            size: entry.size,
            reason: next == stream.size
                ? "the backup ends behind \(found) of its \(entry.size) bytes"
                : "it is shorter than its header says: at most \(found) of \(entry.size) bytes"
        )
    }

    private func skipDamage(from start: UInt64) throws -> LostEntry {
        let next = try findHeader(from: start + Self.blockSize, to: stream.size) ?? stream.size
        position = next
        return LostEntry(
            path: "what lies at byte \(start) of the stream",
            size: nil,
            reason: "\(next - start) bytes follow no header that can be read"
        )
    }

    /// The first header between `start` and `end`.
    private func findHeader(from start: UInt64, to end: UInt64) throws -> UInt64? {
        var offset = start
        while offset < end, offset + Self.blockSize <= stream.size {
            if offset & 0xFFFFF == 0 { try cancellation() }
            if isHeader(try block(at: offset)) { return offset }
            offset += Self.blockSize
        }
        return nil
    }

    /// The first block after `start` that isn't all zeros.
    private func firstContent(from start: UInt64) throws -> UInt64? {
        let isKnown = zeros.contains(start)
        var offset = isKnown ? zeros.upperBound : start
        defer { zeros = (isKnown ? zeros.lowerBound : start)..<offset }
        while offset + Self.blockSize <= stream.size {
            if offset & 0xFFFFF == 0 { try cancellation() }
            let piece = try stream.read(at: offset, count: 128 * 1024)
            guard let index = piece.firstIndex(where: { $0 != 0 }) else {
                offset += UInt64(piece.count)
                continue
            }
            offset += UInt64(index - piece.startIndex) / Self.blockSize * Self.blockSize
            return offset
        }
        return nil
    }
}
