internal import MigrationArchive
internal import MigrationSystem

extension ArchiveEntry.Kind {
    /// The kind as differences name it.
    var name: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .hardLink: "a hard link"
        }
    }

    /// What a container must have in its place; `nil` where more than one kind will do.
    var expectedKind: FileStatus.Kind? {
        switch self {
        case .file: .regular
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .hardLink: nil
        }
    }
}
