internal import MigrationSystem

/// A file that is to be made in a directory that is there.
struct RestoredFile: Sendable {
    let entry: ArchiveEntry
    let directory: any RestoredDirectory
    let permissions: UInt16
    /// Where its header begins in the tar stream.
    let offset: UInt64

    var name: ByteString { ByteString(entry.path.lastComponent) }

    /// Makes the file, which must not exist yet; `nil` where its content is not kept.
    func make(_ mode: NewFileMode) throws(SystemError) -> FileContentWriter? {
        // Attributes can't be set on a file that its owner may not write to.
        let hasFinalMode = entry.extendedAttributes.isEmpty && mode.grants(permissions)
        let file = try directory.makeFile(
            name,
            permissions: hasFinalMode ? permissions : 0o600,
            size: entry.contentSize
        )
        guard let file else { return nil }
        if let owner = mode.owner { try file.setOwner(owner) }
        return FileContentWriter(writingTo: file, lacking: hasFinalMode ? nil : permissions)
    }

    /// Makes the file and fills it with `content`.
    func make(_ mode: NewFileMode, holding content: ContentSlice) throws(SystemError) {
        guard var writer = try make(mode) else { return }
        try content.withSpan { span throws(SystemError) in try writer.write(span, at: 0) }
        try writer.finish(entry)
    }
}
