public import Foundation
public import MigrationArchive
package import MigrationSystem

/// Where to write an archive.
public struct ArchiveDestination: Sendable {
    fileprivate enum Target {
        case file(BytePath, replacesExisting: Bool)
        case descriptor(Int32)
        case nowhere
        case consumer(any ArchiveConsumer)
    }

    fileprivate let target: Target

    /// How the archive is encrypted; `nil` if it is not.
    private(set) var encryption: ArchiveEncryption?

    /// Whether the export resumes the file that an interrupted one left.
    private(set) var resumes = false

    /// The path of the file; `nil` for a descriptor.
    var path: BytePath? {
        if case .file(let path, _) = target { path } else { nil }
    }

    /// A file that appears under its name only when the archive is complete, and only its owner can
    /// read.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - replacesExisting: Whether to replace an existing file; otherwise one is an error.
    /// - Returns: The destination. Nothing is written before the export.
    public static func file(_ url: URL, replacesExisting: Bool = false) -> ArchiveDestination {
        .file(path: BytePath(of: url), replacesExisting: replacesExisting)
    }

    /// A file at a path of any bytes.
    package static func file(path: BytePath, replacesExisting: Bool) -> ArchiveDestination {
        ArchiveDestination(target: .file(path, replacesExisting: replacesExisting))
    }

    /// The same file, which an interrupted export may have begun.
    ///
    /// The begun file has a name that ends in `.partial`, or is a truncated archive under the
    /// archive's own name. Pieces that the export would write unchanged stay, and a failed export
    /// leaves what it has written.
    ///
    /// - Returns: The destination, which must be a file and not be encrypted.
    public func resumed() -> ArchiveDestination {
        var destination = self
        destination.resumes = true
        return destination
    }

    /// An open descriptor, such as 1 for standard output, which gets the archive as it is made.
    ///
    /// The descriptor stays open. A failed export can't take back the bytes that it has written.
    ///
    /// - Parameter number: The number of the descriptor, open for writing.
    /// - Returns: The destination.
    public static func descriptor(_ number: Int32) -> ArchiveDestination {
        ArchiveDestination(target: .descriptor(number))
    }

    /// A destination that discards the archive, for a preview, encrypted like this one.
    var discarding: ArchiveDestination {
        var destination = ArchiveDestination(target: .nowhere)
        destination.encryption = encryption
        return destination
    }

    /// Throws if an archive can't be written here, as far as can be seen without writing; returns
    /// the free space in bytes, or `nil` for a stream.
    func checkIsUsable() throws(MigrationError) -> UInt64? {
        guard case .file(let path, let replacesExisting) = target else { return nil }
        if replacesExisting { try ArchiveFile.checkIsReplaceable(path) }
        do throws(SystemError) {
            let resolved = try BytePath(resolving: path)
            if !replacesExisting, try FileDescriptor.statusIfPresent(atPath: resolved) != nil {
                throw SystemError("open", code: SystemError.existingCode)
            }
            return try FileDescriptor.open(resolved.parent, .directory).availableSpace()
        } catch {
            throw ArchiveFile.failure(error, at: path)
        }
    }

    /// A command that reads the archive from its standard input, and sees its end only if it is
    /// complete.
    package static func command(_ command: StreamCommand) -> ArchiveDestination {
        ArchiveDestination(target: .consumer(command))
    }

    /// An archive on another host, which keeps the pieces that it already has.
    package static func remote(_ archive: RemoteArchive) -> ArchiveDestination {
        ArchiveDestination(target: .consumer(archive))
    }

    /// Whether the destination is told the size of the content before it starts.
    var needsEstimate: Bool {
        if case .consumer(let consumer) = target { consumer is StreamCommand } else { false }
    }

    /// The same destination with an encrypted archive.
    ///
    /// - Parameter encryption: Who can decrypt the archive.
    /// - Returns: The destination.
    public func encrypted(with encryption: ArchiveEncryption) -> ArchiveDestination {
        var destination = self
        destination.encryption = encryption
        return destination
    }
}

/// The open output of an export: a file that appears when it is complete, or a stream.
package struct ArchiveFile: ~Copyable {
    private var pending: PendingFile?
    private var path: BytePath?
    private var consumer: (any ArchiveConsumer)?
    private var resumes = false

    /// The beginning of a truncated archive in the file; `nil` if the file begins empty.
    private(set) var beginning: ArchiveBeginning?

    /// Receives the archive's bytes.
    package let output: ArchiveOutput

    /// The free space in bytes; `nil` for a stream.
    private(set) var availableSpace: UInt64?

    /// Opens `destination`, writes an archive by `body`, and commits it; an error of `body` discards it.
    ///
    /// - Parameters:
    ///   - destination: Where the archive goes.
    ///   - sizeEstimate: The size of the content, for a command.
    ///   - operation: The operation that writes.
    ///   - body: Writes the archive.
    /// - Returns: The result of `body`.
    /// - Throws: ``MigrationError`` of codes `archiveBusy`, `outputExists` and `outputFailed`, and errors of
    ///   `body` and of reading a begun archive.
    package static func write<Result>(
        to destination: ArchiveDestination,
        sizeEstimate: UInt64 = 0,
        on operation: MigrationOperation,
        by body: (borrowing ArchiveFile) throws -> Result
    ) throws -> Result {
        let file = try make(at: destination, sizeEstimate: sizeEstimate, on: operation)
        let result: Result
        do {
            result = try body(file)
        } catch {
            throw file.discard(after: error)
        }
        try file.commit()
        return result
    }

    /// Opens the output; `settingAside` receives the new name of a begun archive that can't be resumed,
    /// which is an error without it.
    static func make(
        at destination: ArchiveDestination,
        sizeEstimate: UInt64 = 0,
        settingAside: ((BytePath) -> Void)? = nil,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        let encryption = destination.encryption
        if destination.resumes {
            guard case .file = destination.target, encryption == nil else {
                let message = "only a file that is not encrypted can be resumed"
                throw MigrationError(.invalidOption, message)
            }
        }
        let stream: FileDescriptor
        switch destination.target {
        case .file(let path, let replaces):
            return try open(path, replaces, for: destination, settingAside, on: operation)
        case .descriptor(let number): stream = try .duplicate(ofNumber: number)
        case .nowhere: stream = try .open("/dev/null", .writing)
        case .consumer(let consumer):
            let (output, beginning) = try consumer.start(
                sizeEstimate: sizeEstimate,
                encryption: encryption,
                on: operation
            )
            return ArchiveFile(consumer: consumer, beginning: beginning, output: output)
        }
        return ArchiveFile(
            output: try ArchiveOutput(writing: stream, encryption: encryption, on: operation)
        )
    }

    private static func open(
        _ path: BytePath,
        _ replacesExisting: Bool,
        for destination: ArchiveDestination,
        _ settingAside: ((BytePath) -> Void)?,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        let pending = try openPending(path, replacesExisting, for: destination, on: operation)
        do {
            let file = pending.file
            let beginning =
                destination.resumes
                ? try ArchiveBeginning(proving: file.descriptor.duplicate(), on: operation) : nil
            let space = try pending.availableSpace() + (beginning?.provedBytes ?? 0)
            let output = try ArchiveOutput(
                writing: file.descriptor.duplicate(),
                encryption: destination.encryption,
                on: operation
            )
            return ArchiveFile(
                pending: pending,
                path: path,
                resumes: destination.resumes,
                beginning: beginning,
                output: output,
                availableSpace: space
            )
        } catch let error as SystemError where !destination.resumes {
            pending.discard()
            throw failure(error, at: path)
        } catch let error as ArchiveError where error.code != .inputFailed {
            guard let settingAside else { throw unresumable(error, at: path) }
            do throws(SystemError) {
                settingAside(path.parent / (try pending.setAside()))
            } catch {
                throw failure(error, at: path)
            }
        }
        return try open(path, replacesExisting, for: destination, nil, on: operation)
    }

    private static func openPending(
        _ path: BytePath,
        _ replacesExisting: Bool,
        for destination: ArchiveDestination,
        on operation: MigrationOperation
    ) throws(MigrationError) -> PendingFile {
        if replacesExisting { try checkIsReplaceable(path) }
        do throws(SystemError) {
            return try PendingFile.make(
                at: BytePath(resolving: path),
                replacesExisting: replacesExisting,
                resumes: destination.resumes
            ) { file throws(SystemError) in
                try ArchiveBeginning.isCut(file.descriptor.duplicate(), operation)
            }
        } catch {
            throw failure(error, at: path)
        }
    }

    /// The reason why the begun archive at `path` can't be resumed.
    private static func unresumable(_ error: ArchiveError, at path: BytePath) -> MigrationError {
        let message =
            "what is left of the archive can't be resumed: \(error); remove the file that ends in "
            + "'.partial' first"
        return MigrationError(.outputFailed, message, path: path)
    }

    /// Throws if something is at `path` that must not be replaced with a file, such as a device.
    fileprivate static func checkIsReplaceable(_ path: BytePath) throws(MigrationError) {
        do {
            let resolved = try BytePath(resolving: path)
            let status = try FileDescriptor.statusIfPresent(atPath: resolved)
            if status == nil || status?.kind == .regular { return }
        } catch {
            throw failure(error, at: path)
        }
        let message = "something other than a file is there, and only a file can be replaced"
        throw MigrationError(.outputExists, message, path: path)
    }

    fileprivate static func failure(_ error: SystemError, at path: BytePath) -> MigrationError {
        if error.isExisting {
            let message = "a file of that name already exists"
            return MigrationError(.outputExists, message, path: path)
        }
        if error.isBusy {
            let message = "another process is writing this archive"
            return MigrationError(.archiveBusy, message, path: path)
        }
        if error.isMissing {
            let message = "the archive can't be written: its directory is missing"
            return MigrationError(.outputFailed, message, path: path.parent, cause: error)
        }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "the archive can't be written", path: path, cause: error)
    }

    /// Throws unless the file, which is not committed yet, is a complete archive; returns its
    /// fingerprint.
    mutating func prove() throws -> Fingerprint {
        guard let file = pending?.file else { preconditionFailure("a stream can't be read again") }
        let input = try ArchiveInput(
            reading: file.descriptor.duplicate(),
            on: output.operation
        )
        let inspection = try ArchiveVerifier.verify(input, scope: .hashes) { _ in }
        guard let fingerprint = inspection.fingerprint else {
            throw ArchiveError(.notAnArchive, "not a migration archive")
        }
        return fingerprint
    }

    /// Renames the file to its final name, or lets the receiving end see the end of the archive.
    consuming func commit() throws {
        try consumer?.complete(closing: output)
        guard let file = pending.take() else { return }
        do {
            try file.commit()
        } catch {
            throw Self.failure(error, at: path ?? "")
        }
    }

    /// Removes the file if possible, unless it can be resumed, or ends the receiving end.
    ///
    /// - Returns: The error to report instead of `error`, which made the archive useless.
    consuming func discard(after error: any Error) -> any Error {
        if let file = pending.take() {
            if resumes { file.leave() } else { file.discard() }
        }
        return consumer?.end(after: error) ?? error
    }
}
