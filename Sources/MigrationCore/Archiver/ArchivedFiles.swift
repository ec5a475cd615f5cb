internal import MigrationSystem

/// Remembers which files of a source an archive holds, whatever they are called in it.
///
/// Only a hash of each file's identity is kept, since an export may have millions.
struct ArchivedFiles {
    private var hashes: Set<Int> = []
    private let output: FileStatus.Identity?

    /// Remembers files beside the archive's own, which is `output`.
    init(apartFrom output: FileStatus.Identity?) {
        self.output = output
    }

    mutating func insert(_ status: FileStatus) {
        hashes.insert(status.identity.hashValue)
    }

    func contains(_ status: FileStatus) -> Bool {
        hashes.contains(status.identity.hashValue)
    }

    /// Whether the file is the archive itself.
    func isOutput(_ status: FileStatus) -> Bool { status.identity == output }
}
