internal import MigrationArchive
internal import MigrationSystem

/// Files that follow one another in a directory, of which no more is known than their names.
struct FileRun {
    /// The open directory that holds them.
    let directory: OpenFile

    /// The path under which the archive holds the directory; empty for the root.
    let path: ByteString

    /// The directory's names.
    let listing: DirectoryListing

    /// The files' places in the listing.
    let range: Range<Int>

    /// The path under which the archive holds the file at `index`.
    func path(at index: Int) -> ByteString { listing.path(at: index, beneath: path) }

    /// The file at `index`.
    func file(at index: Int) -> UnreadFile {
        let path = EntryPath(bytes: path(at: index))
        return UnreadFile(path: path, directory: directory, name: path.lastComponent)
    }

    /// What the system knows of the file at `index`.
    func status(at index: Int) throws(ArchiveError) -> FileStatus {
        do {
            return try listing.status(at: index, in: directory.descriptor)
        } catch {
            throw SourceItem.failure(error, at: path(at: index))
        }
    }

    /// Looks at the file at `index`.
    func item(at index: Int) throws(ArchiveError) -> SourceItem {
        try SourceItem(named: listing[index], at: path(at: index), in: directory)
    }
}
