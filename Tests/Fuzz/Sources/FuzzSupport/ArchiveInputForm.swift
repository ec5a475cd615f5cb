/// How an archive is made from an input: the first byte selects the form, the rest is the material.
public struct ArchiveInputForm {
    /// The form of the material.
    public enum Kind: String, CaseIterable, Sendable {
        /// The archive as it is.
        case bare = "any bytes"
        /// One of our archives, whose hashes are corrected.
        case sealed = "own archive with hashes put right"
        /// A tar stream, from which one of our archives is made.
        case own = "own archive made of a tar stream"
        /// A tar file.
        case tar = "tar file"
        /// A tar file that is compressed with zstd.
        case zstd = "tar file in zstd"
        /// A tar file that is compressed with gzip.
        case gzip = "tar file in gzip"
    }

    /// The bytes of the archive.
    public let archive: [UInt8]

    /// The bits of the first byte that mean nothing here, for the target to use.
    public let choice: Int

    /// The form that the material got.
    public let kind: Kind

    /// Makes the archive of `bytes`.
    ///
    /// Bits 0 and 1: the archive itself; a tar stream for an own archive; a tar file; a tar file in
    /// zstd. Bit 2: the tar stream is a script. Bit 3: the tar stream is not repaired. Bits 4 and 5
    /// are the choice. Bit 6: an own archive is stored. Bit 7: the archive's hashes are put right;
    /// gzip takes the place of zstd.
    public init(_ bytes: [UInt8]) throws {
        let mode = bytes.first ?? 0
        kind = Self.kind(mode)
        choice = Int(mode >> 4 & 3)
        var material = [UInt8](bytes.dropFirst())
        if mode & 3 != 0 {
            if mode & 4 != 0 {
                let end = [UInt8](repeating: 0, count: kind == .own ? 0 : 1024)
                material = EntryScript(material).stream + end
            } else if mode & 8 == 0 {
                material = TarRepair.repaired(material)
                if kind == .own { material.removeLast(1024) }
            }
        }
        switch kind {
        case .bare, .tar: archive = material
        case .sealed: archive = ArchiveSeal.renewed(material)
        case .own:
            let stream = ArchiveForge.stream(of: material)
            archive = try ArchiveForge.archive(of: stream, isStored: mode & 0x40 != 0)
        case .zstd: archive = try ArchiveForge.compressed(material)
        case .gzip: archive = GzipForge.compressed(material)
        }
    }

    private static func kind(_ mode: UInt8) -> Kind {
        switch (mode & 3, mode & 0x80 != 0) {
        case (0, false): .bare
        case (0, true): .sealed
        case (1, _): .own
        case (2, _): .tar
        case (_, false): .zstd
        case (_, true): .gzip
        }
    }
}
