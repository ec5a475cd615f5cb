/// Where a peer works.
struct PeerGround {
    /// What to export.
    let tree: String
    /// The archive to make: a file, or the directory of a repository.
    let archive: String
    /// An empty directory to import into.
    let destination: String
    /// The zstd compression level.
    let level: Int

    /// A command line of the shell, to which tree, archive, destination and level are `$1` to `$4`.
    func shell(_ script: String) -> [String] {
        ["bash", "-o", "pipefail", "-c", script, "bash", tree, archive, destination, "\(level)"]
    }
}
