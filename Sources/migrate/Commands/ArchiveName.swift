import MigrationArchive
import MigrationCore

/// An archive as the command line names it: a path, or `-` for a standard stream.
struct ArchiveName: Hashable, Sendable {
    /// The bytes of the command line.
    let bytes: [UInt8]

    /// What opens the archive where it is encrypted.
    let keys: DecryptionOptions?

    init(_ bytes: [UInt8], keys: DecryptionOptions? = nil) {
        self.bytes = bytes
        self.keys = keys
    }

    /// Whether standard input or output is meant.
    var isStandardStream: Bool { bytes == [UInt8(ascii: "-")] }

    /// The archive to read; a person can't type one in.
    func source(console: Console) throws -> ArchiveSource {
        let source = try place(console: console)
        guard let decryption = try keys?.decryption() else { return source }
        return source.decrypted(with: decryption)
    }

    private func place(console: Console) throws(UsageError) -> ArchiveSource {
        guard isStandardStream else { return .file(path: bytes) }
        guard !console.closedStreams.contains(.input) else {
            throw UsageError("'-' reads the archive from standard input, which is closed")
        }
        guard !StandardStream.input.isTerminal else {
            throw UsageError("'-' reads the archive from standard input, which is a terminal")
        }
        return .descriptor(StandardStream.input.rawValue)
    }

    /// The archive to write; nobody wants one on the screen, or nowhere.
    func destination(
        replacingExisting: Bool,
        console: Console
    ) throws(UsageError) -> ArchiveDestination {
        guard isStandardStream else {
            return .file(path: bytes, replacingExisting: replacingExisting)
        }
        guard !console.closedStreams.contains(.output) else {
            throw UsageError("'-' writes the archive to standard output, which is closed")
        }
        guard !StandardStream.output.isTerminal else {
            throw UsageError("'-' writes the archive to standard output, which is a terminal")
        }
        return .descriptor(StandardStream.output.rawValue)
    }

    /// The archive's name in a message about one that was read.
    var sourceText: String {
        isStandardStream ? "standard input" : PrintableText.escaping(bytes)
    }
}
