/// Where a peer works.
struct PeerGround {
    /// The tree to export.
    let tree: String
    /// The archive to make: a file, or the directory of a repository.
    let archive: String
    /// An empty directory to import into.
    let destination: String
    /// The zstd compression level.
    let level: Int

    /// A shell command line; `$1` to `$4` are the tree, the archive, the destination and the level.
    func shell(_ script: String) -> [String] {
        ["bash", "-o", "pipefail", "-c", script, "bash", tree, archive, destination, "\(level)"]
    }
}
