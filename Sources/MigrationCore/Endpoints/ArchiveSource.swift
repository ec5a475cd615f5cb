public import Foundation
public import MigrationArchive
package import MigrationSystem

/// Where to read an archive.
public struct ArchiveSource: Sendable {
    private enum Origin {
        case file(BytePath)
        case descriptor(Int32)
        case command(StreamCommand)
    }

    private let origin: Origin
    private var decryption: ArchiveDecryption?

    /// The archive in a file.
    ///
    /// - Parameter url: The file; a link to it is followed.
    /// - Returns: The source, which is opened when it is read.
    public static func file(_ url: URL) -> ArchiveSource {
        .file(path: BytePath(of: url))
    }

    /// The archive in the file at a path of any bytes.
    package static func file(path: BytePath) -> ArchiveSource {
        ArchiveSource(origin: .file(path))
    }

    /// The archive from an open descriptor, such as 0 for standard input.
    ///
    /// The descriptor stays open. A pipe is read in one pass; a regular file is read from its
    /// start, whatever the position of the descriptor.
    ///
    /// - Parameter number: The number of the descriptor, open for reading.
    /// - Returns: The source.
    public static func descriptor(_ number: Int32) -> ArchiveSource {
        ArchiveSource(origin: .descriptor(number))
    }

    /// The archive that a command writes to its standard output.
    package static func command(_ command: StreamCommand) -> ArchiveSource {
        ArchiveSource(origin: .command(command))
    }

    /// The path of the file, of which any part can be read; `nil` for another source.
    var path: BytePath? {
        if case .file(let path) = origin { path } else { nil }
    }

    /// The command that writes the archive, if one does.
    var command: StreamCommand? {
        if case .command(let command) = origin { command } else { nil }
    }

    /// The same archive, which may be encrypted.
    ///
    /// Only the needed parts of a file are read, even if it is encrypted; an armored file is read
    /// completely.
    ///
    /// - Parameter decryption: The keys; an unencrypted archive is read without them.
    /// - Returns: The source.
    public func decrypted(with decryption: ArchiveDecryption) -> ArchiveSource {
        var source = self
        source.decryption = decryption
        return source
    }

    /// Opens the archive, to be read by the threads of `operation`.
    package func open(_ operation: MigrationOperation) throws -> ArchiveInput {
        let descriptor: FileDescriptor
        var name: BytePath?
        do {
            switch origin {
            case .file(let path):
                name = path
                descriptor = try FileDescriptor.openFollowingLinks(path, .reading)
            case .descriptor(let number):
                descriptor = try FileDescriptor.duplicate(ofNumber: number)
            case .command(let command):
                descriptor = try command.startGiving()
            }
        } catch let error as SystemError {
            throw ArchiveError(.inputFailed, "the archive can't be opened", cause: error)
        }
        return try ArchiveInput(
            reading: descriptor,
            named: name,
            decryption: decryption,
            on: operation
        )
    }
}
