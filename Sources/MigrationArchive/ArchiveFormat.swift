internal import CZstd

/// Tells what kind of archive an input holds by its first bytes, which stay unread.
enum ArchiveFormat {
    /// A migration archive, with what its first bytes say of it.
    case migration(ArchiveHeader)
    /// A tar file of another program, compressed with zstd.
    case compressedTar
    /// A tar file of another program, compressed with gzip.
    case gzippedTar
    /// A tar file of another program.
    case plainTar

    static func detect(in input: ArchiveInput) throws -> ArchiveFormat {
        guard try input.lookAhead(4) >= 4 else {
            throw ArchiveError(.notAnArchive, "not an archive: the input is empty or ends at once")
        }
        let magic = [UInt8](input.ahead.prefix(4)).littleEndian(at: 0, as: UInt32.self)
        if magic == FrameFormat.zstdMagic {
            return try header(in: input).map(ArchiveFormat.migration) ?? .compressedTar
        }
        if magic & 0xFFFF_FFF0 == FrameFormat.skippableMagic { return .compressedTar }
        if input.ahead.starts(with: GzipStreamSource.magic) { return .gzippedTar }
        guard try input.lookAhead(TarFormat.blockSize) >= TarFormat.blockSize else {
            throw notAnArchive(beginningWith: input.ahead)
        }
        let block = UstarBlock(copying: input.ahead)
        // Zeros alone are an empty tar file by their form, but also what a crash leaves of any other.
        guard !block.isZero, block.hasValidChecksum else {
            throw notAnArchive(beginningWith: input.ahead)
        }
        return .plainTar
    }

    /// Whether the input, of this format, begins with `apps/<package>/_manifest`, as a backup of Android's
    /// that is a tar file does.
    func isAndroidBackup(_ input: ArchiveInput) -> Bool {
        guard case .plainTar = self else { return false }
        let name = UstarBlock(copying: input.ahead).text(at: UstarBlock.Field.name)
        let names = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 3 && names[0].elementsEqual("apps".utf8)
            && names[2].elementsEqual("_manifest".utf8)
    }

    /// Reads the header of a migration archive; `nil` for anything else that zstd reads.
    private static func header(in input: ArchiveInput) throws -> ArchiveHeader? {
        let available = try input.lookAhead(2 * GlobalHeader.limit)
        let start = StreamStart(of: [UInt8](input.ahead.prefix(available)))
        guard start.bytes.count >= TarFormat.blockSize else { return nil }
        let block = UstarBlock(copying: start.bytes[...])
        guard block[UstarBlock.Field.typeFlag] == TypeFlag.globalHeader, block.hasValidChecksum,
            let size = block.octal(at: UstarBlock.Field.size), size <= UInt64(GlobalHeader.limit),
            start.bytes.count >= TarFormat.blockSize + Int(size)
        else { return nil }
        let body = start.bytes[TarFormat.blockSize..<TarFormat.blockSize + Int(size)]
        guard let records = try? PaxRecords(parsing: [UInt8](body)) else { return nil }
        return try GlobalHeader.parse(records)
    }

    private static func notAnArchive(beginningWith bytes: ArraySlice<UInt8>) -> ArchiveError {
        let known: [(magic: [UInt8], name: String)] = [
            ([0x42, 0x5A, 0x68], "bzip2"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz"),
            ([0x50, 0x4B, 0x03, 0x04], "zip"),
        ]
        if bytes.starts(with: "ANDROID BACKUP\n".utf8) {
            let message =
                "not a migration archive but a backup of Android's: make an archive of it with "
                + "'migrate android convert'"
            return ArchiveError(.notAnArchive, message)
        }
        let name = known.first { bytes.starts(with: $0.magic) }?.name
        let hint = name.map { " but a \($0) file: unpack it first" } ?? ""
        return ArchiveError(.notAnArchive, "not a migration archive and not a tar file\(hint)")
    }
}

/// As much of the content of a zstd frame as its first compressed bytes give.
private struct StreamStart {
    private(set) var bytes: [UInt8] = []

    init(of compressed: [UInt8]) {
        guard let context = unsafe ZSTD_createDCtx() else { return }
        defer { _ = unsafe ZSTD_freeDCtx(context) }
        unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)
        var output = [UInt8](repeating: 0, count: TarFormat.blockSize + GlobalHeader.limit)
        let count = unsafe output.withUnsafeMutableBytes { output in
            unsafe compressed.withUnsafeBytes { input in
                var target = unsafe ZSTD_outBuffer(
                    dst: output.baseAddress,
                    size: output.count,
                    pos: 0
                )
                var source = unsafe ZSTD_inBuffer(
                    src: input.baseAddress,
                    size: input.count,
                    pos: 0
                )
                while unsafe source.pos < source.size, unsafe target.pos < target.size {
                    let result = unsafe ZSTD_decompressStream(context, &target, &source)
                    if ZSTD_isError(result) != 0 || result == 0 { break }
                }
                return unsafe target.pos
            }
        }
        bytes = [UInt8](output[..<count])
    }
}

extension UstarBlock {
    package init(copying bytes: ArraySlice<UInt8>) {
        for (index, byte) in bytes.prefix(TarFormat.blockSize).enumerated() {
            self.bytes[index] = byte
        }
    }
}
