/// How an archive is made of an input: the first byte says it, the rest is the material.
public struct ArchiveInputForm {
    /// The bytes of the archive.
    public let archive: [UInt8]

    /// The bits of the first byte that mean nothing here, for the target to use.
    public let choice: Int

    /// Whether the archive is one of this project, with right hashes.
    public let isOwn: Bool

    /// Makes the archive of `bytes`.
    ///
    /// Bits 0 and 1: the archive itself; a tar stream for an own archive; a tar file; a tar file in
    /// zstd. Bit 2: the tar stream is a script. Bit 3: the tar stream is not repaired. Bits 4 and 5
    /// are the choice.
    public init(_ bytes: [UInt8]) throws {
        let mode = bytes.first ?? 0
        var material = [UInt8](bytes.dropFirst())
        choice = Int(mode >> 4 & 3)
        isOwn = mode & 3 == 1
        if mode & 3 != 0 {
            if mode & 4 != 0 {
                let entries = EntryScript(material).stream
                material = isOwn ? entries : entries + [UInt8](repeating: 0, count: 1024)
            } else if mode & 8 == 0 {
                material = TarRepair.repaired(material)
                if isOwn { material.removeLast(1024) }
            }
        }
        switch mode & 3 {
        case 0: archive = material
        case 1:
            let stream = try ArchiveForge.stream(of: material)
            archive = try ArchiveForge.archive(of: stream, isStored: mode & 0x40 != 0)
        case 2: archive = material
        default: archive = try ArchiveForge.compressed(material)
        }
    }
}
