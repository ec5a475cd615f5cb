internal import MigrationSystem

/// Files whose contents lie in one chunk of the tar stream, made together by one thread.
struct FileBatch: Sendable {
    /// Enough files that handing them on costs little beside making them.
    private static let fileLimit = 64
    /// Every directory of a batch is an open file.
    private static let directoryLimit = 16

    private(set) var files: [(file: RestoredFile, content: ContentSlice)] = []
    private var directoryCount = 0

    var isEmpty: Bool { files.isEmpty }

    /// Whether the batch should be handed on before `content` is added.
    func isComplete(before content: ContentSlice) -> Bool {
        guard let last = files.last else { return false }
        return files.count >= Self.fileLimit || directoryCount >= Self.directoryLimit
            || last.content.chunk !== content.chunk
    }

    mutating func append(_ file: RestoredFile, holding content: ContentSlice) {
        if files.last?.file.directory !== file.directory { directoryCount += 1 }
        files.append((file, content))
    }

    /// Makes the files, one after another.
    func make(_ mode: NewFileMode, _ cancellation: CancellationFlag) throws {
        for (file, content) in files {
            try cancellation.check()
            do throws(SystemError) {
                try file.make(mode, holding: content)
            } catch {
                throw ArchiveError(error, restoring: file.entry.path).located(at: file.offset)
            }
        }
    }
}
