extension ArchiveIndex {
    /// Reads the index from the end of an archive file; `nil` from a pipe.
    static func read(from input: ArchiveInput) throws(ArchiveError) -> ArchiveIndex? {
        guard let size = input.size else { return nil }
        let footerSize = UInt64(FrameFormat.seekTableFooterSize)
        let truncated = ArchiveError(.truncated, "the archive is cut short: its end is missing")
        guard size > footerSize else { throw truncated }
        var footer = [UInt8](repeating: 0, count: FrameFormat.seekTableFooterSize)
        try input.readExactly(at: size - footerSize, into: &footer, count: footer.count)
        let frameCount =
            Int(footer.littleEndian(at: 0, as: UInt32.self)) - Self.listedBesideData
        guard footer.littleEndian(at: 5) == FrameFormat.seekTableFooterMagic, frameCount >= 0
        else { throw truncated }
        let endSize =
            integrityFrameSize(frameCount: frameCount) + seekTableSize(frameCount: frameCount)
        guard UInt64(endSize) < size, frameCount <= frameLimit else {
            throw ArchiveError(.damaged, "the seek table claims more frames than there can be")
        }
        var end = [UInt8](repeating: 0, count: endSize)
        try input.readExactly(at: size - UInt64(endSize), into: &end, count: endSize)
        let index = try ArchiveIndex(parsing: end)
        try index.checkCuts()
        guard index.compressedBytes == size - UInt64(endSize) else {
            throw ArchiveError(.damaged, "the archive is shorter or longer than its frames")
        }
        return index
    }
}
