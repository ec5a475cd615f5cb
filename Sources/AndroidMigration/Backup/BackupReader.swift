internal import MigrationArchive
internal import MigrationSystem

/// One entry of a backup's tar stream, according to its headers.
package struct BackupEntry: Sendable {
    package let path: [UInt8]
    package let typeFlag: UInt8
    package let size: UInt64
    package let permissions: UInt16
    package let modificationTime: Int64

    /// Where its content begins in the stream.
    package let contentOffset: UInt64

    /// The printable path of the entry in whose content this one was found.
    package var holder: String?
}

/// An item that the stream announces but does not contain.
package struct LostEntry: Hashable, Sendable {
    /// The printable path.
    package let path: String

    /// Its size in bytes; `nil` if unknown.
    package let size: UInt64?

    /// Why it is lost.
    package let reason: String
}

extension BackupEntry {
    /// The loss of the entry.
    func loss(_ reason: String) -> LostEntry {
        LostEntry(path: PrintableText.escaping(path), size: size, reason: reason)
    }
}

/// Reads the tar stream of a backup and continues after damage.
///
/// An entry that is shorter than its header says is reported as lost, and the entries that its size
/// covers are read: see `EntryExtent`.
package final class BackupReader {
    package enum Item {
        case entry(BackupEntry)
        case lost(LostEntry)
    }

    static let blockSize: UInt64 = 512
    /// The largest pax header; Android itself accepts 32 KiB (TarBackupReader).
    private static let extensionLimit: UInt64 = 1 << 20

    /// The maximum number of headers before an entry's own; Android writes one.
    private static let extensionCountLimit = 16

    let stream: BackupStream
    let cancellation: CancellationCheck
    private(set) var isAndroid = true
    private var position: UInt64 = 0
    private var reportedDamage = false
    /// Whether any entry's content holds headers of others.
    var foundHeadersInside = false
    /// The headers that were found inside entries' content.
    var headersInside = HeaderIndex()
    /// Where the zeros at the end of the stream begin, once that is known.
    private var contentEnd: UInt64?
    /// The last short entry, and where it would end according to its header.
    private var shortEntry: (path: String, end: UInt64) = ("", 0)
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
            guard isPlausible(first), var header = try header(at: start) else {
                return .lost(try skipDamage(from: start))
            }
            let end = header.contentOffset + Self.padded(header.size)
            if start < shortEntry.end { header.holder = shortEntry.path }
            switch try extent(of: header, endingAt: end) {
            case .whole:
                position = min(end, stream.size)
                return .entry(header)
            case .short(let next, let reason):
                let path = PrintableText.escaping(header.path)
                shortEntry = (path, max(shortEntry.end, end))
                position = next
                return .lost(LostEntry(path: path, size: header.size, reason: reason))
            }
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
        if !foundHeadersInside { stream.holdsNoHeadersInside = true }
        return nil
    }
}

// MARK: - Headers

extension BackupReader {
    static func padded(_ size: UInt64) -> UInt64 {
        (size + blockSize - 1) & ~(blockSize - 1)
    }

    func block(at offset: UInt64) throws -> UstarBlock {
        UstarBlock(copying: try stream.read(at: offset, count: Int(Self.blockSize)))
    }

    private func hasAndroidName(_ block: UstarBlock) -> Bool {
        [UstarBlock.Field.name, UstarBlock.Field.prefix].contains { field in
            let text = block.text(at: field)
            return ["apps/", "shared/", "PaxHeader"].contains { text.starts(with: $0.utf8) }
        }
    }

    /// Whether the block may be a header where one is expected.
    func isPlausible(_ block: UstarBlock) -> Bool {
        block.hasValidChecksum
            || (block.isPOSIX && hasAndroidName(block)
                && block.number(at: UstarBlock.Field.size) != nil)
    }

    /// Whether the block is certainly a header, even where none is expected.
    func isHeader(_ block: UstarBlock) -> Bool {
        guard block.hasValidChecksum, !block.isZero else { return false }
        return isAndroid ? block.isPOSIX && hasAndroidName(block) : true
    }

    /// Reads the header at `offset` with those that extend it; `nil` if they are damaged.
    func header(at offset: UInt64) throws -> BackupEntry? {
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
    /// Reports bytes without a header, up to the next header.
    ///
    /// If a program's message got into the stream, everything after it isn't aligned to blocks.
    private func skipDamage(from start: UInt64) throws -> LostEntry {
        let next = try findHeader(from: start + 1) ?? stream.size
        position = next
        let place = "at byte \(start) of the stream"
        if let text = try message(from: start, to: next) {
            return LostEntry(
                path: "the text \(place)",
                size: nil,
                reason: "a program's message got into the stream: '\(text)'"
            )
        }
        return LostEntry(
            path: "what lies \(place)",
            size: nil,
            reason: "\(next - start) bytes follow no header that can be read"
        )
    }

    /// The text between `start` and `end`, if it is lines of text, shortened.
    func message(from start: UInt64, to end: UInt64) throws -> String? {
        let limit: UInt64 = 64 * 1024
        guard start < end, end - start <= limit else { return nil }
        let bytes = try stream.read(at: start, count: Int(end - start))
        guard bytes.last == UInt8(ascii: "\n"),
            let text = String(validating: bytes, as: UTF8.self),
            !bytes.contains(where: { $0 < 0x20 && ![0x09, 0x0A, 0x0D, 0x1B].contains($0) })
        else { return nil }
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return PrintableText.escaping(String(line.prefix(200)))
    }

    /// The first header from `start` on, at any byte: each begins 257 bytes before its magic.
    func findHeader(from start: UInt64) throws -> UInt64? {
        let magic = [UInt8]("ustar".utf8)
        let magicOffset = UInt64(UstarBlock.Field.magic.lowerBound)
        var offset = start + magicOffset
        while offset + UInt64(magic.count) <= stream.size {
            try cancellation()
            let piece = try stream.read(at: offset, count: 128 * 1024)
            var index = piece.startIndex
            while let found = piece[index...].firstIndex(of: magic[0]) {
                if piece[found...].starts(with: magic) {
                    let header = offset + UInt64(found - piece.startIndex) - magicOffset
                    if header + Self.blockSize <= stream.size, isHeader(try block(at: header)) {
                        return header
                    }
                }
                index = found + 1
            }
            guard piece.count > magic.count else { return nil }
            offset += UInt64(piece.count - magic.count + 1)
        }
        return nil
    }

    /// Whether only zeros follow from `start` to the end of the stream.
    func holdsOnlyZeros(from start: UInt64) throws -> Bool {
        if let contentEnd { return start >= contentEnd || start + Self.blockSize > stream.size }
        var end = stream.size
        while end > 0 {
            try cancellation()
            let count = min(end, 128 * 1024)
            let piece = try stream.read(at: end - count, count: Int(count))
            if let index = piece.lastIndex(where: { $0 != 0 }) {
                end -= count - UInt64(index - piece.startIndex) - 1
                break
            }
            end -= count
        }
        contentEnd = end
        return try holdsOnlyZeros(from: start)
    }

    /// The first block after `start` that isn't all zeros.
    func firstContent(from start: UInt64) throws -> UInt64? {
        let isKnown = zeros.contains(start)
        var offset = isKnown ? zeros.upperBound : start
        defer { zeros = (isKnown ? zeros.lowerBound : start)..<offset }
        while offset + Self.blockSize <= stream.size {
            try cancellation()
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
