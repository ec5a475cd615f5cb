internal import MigrationSystem

/// Says what of a container an export leaves out, and why.
struct ContainerSelection: Sendable {
    /// Directories that hold nothing that an app can't make again.
    private static let cachesPath = ByteString(utf8: "Library/Caches")

    /// What no export carries: temporary files, the system's own data and bookkeeping.
    private static let neverMoved: [ByteString] = [
        ByteString(utf8: "tmp"),
        ByteString(utf8: "SystemData"),
        ContainerLayout.bookkeepingName,
        ContainerLayout.metadataName,
    ]

    let includesCaches: Bool
    let exclusions: [ExclusionPattern]

    /// Whether every file right in the directory at `path` is kept, whatever its name.
    func keepsAllFiles(in path: ByteString) -> Bool {
        exclusions.isEmpty && !path.isEmpty && !Self.cachesPath.starts(with: path)
    }

    /// Why the entry at `path` is left out, or `nil` where it is not.
    func reasonForLeavingOut(_ path: ByteString, isDirectory: Bool) -> Omission.Reason? {
        if Self.neverMoved.contains(path) || !includesCaches && path == Self.cachesPath {
            return .leftOutByDefault
        }
        let isExcluded = exclusions.contains { $0.matches(path, isDirectory: isDirectory) }
        return isExcluded ? .excluded : nil
    }
}
