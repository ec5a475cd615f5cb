internal import MigrationArchive
internal import MigrationSystem

/// Something that is to be archived, or reported as left out, when its turn comes.
enum PendingItem {
    /// A file, or what was one when its directory was read.
    case file(UnreadFile)
    /// A directory by itself, without what is in it.
    case directory(SourceItem, opened: OpenFile)
    /// The end of a directory, of which everything came before.
    case end(of: WalkedDirectory)
    case other(SourceItem)
    case omission(Omission)
}

/// A file of which no more is known than where it is.
struct UnreadFile {
    /// The path under which the archive holds it.
    let path: EntryPath
    /// The open directory that holds it.
    let directory: OpenFile
    let name: ArraySlice<UInt8>

    /// Looks at the file.
    func item() throws(ArchiveError) -> SourceItem {
        try SourceItem(named: ByteString(name), at: path.bytes, in: directory)
    }
}
