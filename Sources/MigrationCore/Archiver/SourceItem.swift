internal import MigrationArchive
internal import MigrationSystem

/// Something that a walk over a source tree came to.
struct SourceItem {
    /// The open directory that holds it.
    let directory: OpenFile
    let name: ByteString
    /// The path under which the archive holds it.
    let path: ByteString
    let status: FileStatus
}

extension SourceItem {
    /// Looks at `name` in `directory`, which the archive holds at `path`.
    init(named name: ByteString, at path: ByteString, in directory: OpenFile) throws(ArchiveError) {
        do {
            let status = try directory.descriptor.status(of: name)
            self.init(directory: directory, name: name, path: path, status: status)
        } catch {
            throw Self.failure(error, at: path)
        }
    }

    /// The error where the system's `error` kept the item at `path` from being looked at.
    static func failure(_ error: SystemError, at path: ByteString) -> ArchiveError {
        let code: ArchiveError.Code = error.isMissing ? .sourceChanged : .sourceUnreadable
        let message = error.isMissing ? "vanished during the export" : "can't be read"
        return ArchiveError(code, message, entry: EntryPath(bytes: path), cause: error)
    }
}
