internal import MigrationSystem

/// Chooses the files of a container that an export omits, with the reasons.
struct ContainerSelection: Sendable {
    /// The directory of files that an app can make again.
    private static let cachesPath = [UInt8](utf8: "Library/Caches")

    private static let temporaryFilesPath = [UInt8](utf8: "tmp")
    private static let systemDataPath = [UInt8](utf8: "SystemData")

    /// The directories that Apple's apps and systems expect, and that no export includes by
    /// default.
    static let directoriesOfApple = [cachesPath, temporaryFilesPath, systemDataPath]

    /// Files that are never exported: temporary files, the system's own data, and bookkeeping.
    private static let neverMoved: [[UInt8]] = [
        temporaryFilesPath,
        systemDataPath,
        ContainerLayout.bookkeepingName,
        ContainerLayout.metadataName,
    ]

    let includesCaches: Bool
    let exclusions: [PathPattern]

    /// Whether every file directly in the directory at `path` is kept, whatever its name.
    func keepsAllFiles(in path: [UInt8]) -> Bool {
        exclusions.isEmpty && !path.isEmpty && !Self.cachesPath.starts(with: path)
    }

    /// The longest path of a file that is omitted without a pattern.
    static let longestOwnPath = (neverMoved + [cachesPath]).map(\.count).max() ?? 0

    /// The reason for omitting the entry at `path`; `nil` to keep it.
    func reasonForOmitting(_ path: [UInt8], isDirectory: Bool) -> Omission.Reason? {
        if Self.neverMoved.contains(path) || !includesCaches && path == Self.cachesPath {
            return .leftOutByDefault
        }
        let isExcluded = exclusions.contains { $0.matches(path, isDirectory: isDirectory) }
        return isExcluded ? .excluded : nil
    }
}
