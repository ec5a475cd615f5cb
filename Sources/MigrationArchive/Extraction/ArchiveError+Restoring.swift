internal import MigrationSystem

extension ArchiveError {
    /// Says why the entry at `path` could not be restored.
    init(_ error: SystemError, restoring path: EntryPath) {
        if error.isOutOfSpace {
            self.init(.outOfSpace, "there is no room for", entry: path, cause: error)
        } else if error.isExisting {
            self.init(.entryExists, "the path is there already", entry: path)
        } else if error.isNotDirectory {
            let message = "a part of the path is a link or a file, not a directory"
            self.init(.refused, message, entry: path)
        } else {
            self.init(.outputFailed, "can't be restored", entry: path, cause: error)
        }
    }
}
