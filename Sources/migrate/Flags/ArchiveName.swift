internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

extension ArchiveName {
    /// The archive to read, decrypted with `keys`.
    func source(on console: Console, keys: DecryptionFlags) throws -> ArchiveSource {
        let source = try source(on: console)
        guard let decryption = try keys.decryption() else { return source }
        return source.decrypted(with: decryption)
    }

    /// The archive to read; standard input must not be a terminal.
    func source(on console: Console) throws(UsageError) -> ArchiveSource {
        if let command { return .command(command) }
        guard isStandardStream else { return .file(path: path) }
        guard !console.closedStreams.contains(.input) else {
            throw UsageError("'-' reads the archive from standard input, which is closed")
        }
        guard !StandardStream.input.isTerminal else {
            throw UsageError("'-' reads the archive from standard input, which is a terminal")
        }
        return .descriptor(StandardStream.input.rawValue)
    }

    /// The archive to write; standard output must not be a terminal.
    func destination(
        replacesExisting: Bool,
        on console: Console
    ) throws(UsageError) -> ArchiveDestination {
        if let command { return .command(command) }
        guard isStandardStream else {
            return .file(path: path, replacesExisting: replacesExisting)
        }
        guard !console.closedStreams.contains(.output) else {
            throw UsageError("'-' writes the archive to standard output, which is closed")
        }
        guard !StandardStream.output.isTerminal else {
            throw UsageError("'-' writes the archive to standard output, which is a terminal")
        }
        return .descriptor(StandardStream.output.rawValue)
    }
}

extension ValueReader where Value == ArchiveName {
    /// The path of an archive, or `-`.
    static var archive: Self { ValueReader<BytePath>.path.map { ArchiveName($0) } }

    /// A shell command that consumes or produces an archive.
    static var command: Self {
        ValueReader<[UInt8]>.bytes.map { (text) throws(ValueError) in
            guard !text.isEmpty else { throw .empty }
            return ArchiveName(StreamCommand(text))
        }
    }
}

extension Argument {
    /// The archive that a command reads.
    static func archive(to path: Property<Owner, ArchiveName>) -> Argument {
        Argument("archive", as: .archive, to: path)
            .help("The archive, or '-' for standard input.")
    }
}
