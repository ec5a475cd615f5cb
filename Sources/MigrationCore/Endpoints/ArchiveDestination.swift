public import Foundation
public import MigrationArchive
package import MigrationSystem

/// Where to write an archive.
public struct ArchiveDestination: Sendable {
    fileprivate enum Target {
        case file(BytePath, replacesExisting: Bool)
        case descriptor(Int32)
        case nowhere
        case command(StreamCommand)
        case remote(RemoteArchive)
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
        ArchiveDestination(target: .command(command))
    }

    /// An archive on another host, which keeps the pieces that it already has.
    package static func remote(_ archive: RemoteArchive) -> ArchiveDestination {
        ArchiveDestination(target: .remote(archive))
    }

    /// Whether the destination is told the size of the content before it starts.
    var needsEstimate: Bool {
        if case .command = target { true } else { false }
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
    private let path: BytePath?
    private let consumer: (any ArchiveConsumer)?
    private let resumes: Bool

    /// The beginning of a truncated archive in the file; `nil` if the file begins empty.
    let beginning: ArchiveBeginning?

    /// Receives the archive's bytes.
    package let output: ArchiveOutput

    let identity: FileStatus.Identity

    /// The free space in bytes; `nil` for a stream.
    let availableSpace: UInt64?

    private init(
        pending: consuming PendingFile?,
        path: BytePath?,
        consumer: (any ArchiveConsumer)? = nil,
        resumes: Bool = false,
        beginning: ArchiveBeginning? = nil,
        output: ArchiveOutput,
        identity: FileStatus.Identity,
        availableSpace: UInt64?
    ) {
        self.pending = pending
        self.path = path
        self.consumer = consumer
        self.resumes = resumes
        self.beginning = beginning
        self.output = output
        self.identity = identity
        self.availableSpace = availableSpace
    }

    /// Opens the output.
    ///
    /// - Parameters:
    ///   - destination: Where the archive goes.
    ///   - sizeEstimate: The size of the content, for a command.
    ///   - settingAside: Receives the new name of a begun archive that can't be resumed; `nil`
    ///     makes that an error.
    ///   - operation: The operation that writes.
    /// - Returns: The open output.
    /// - Throws: ``MigrationError`` of codes `archiveBusy`, `outputExists` and `outputFailed`, and errors of
    ///   reading the begun archive.
    package static func make(
        at destination: ArchiveDestination,
        sizeEstimate: UInt64 = 0,
        settingAside: ((BytePath) -> Void)? = nil,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        let encryption = destination.encryption
        if destination.resumes {
            guard encryption == nil, let path = destination.path else {
                let message = "only a file that is not encrypted can be resumed"
                throw MigrationError(.invalidOption, message)
            }
            return try resume(destination, at: path, settingAside: settingAside, on: operation)
        }
        switch destination.target {
        case .descriptor(let number):
            let stream = try FileDescriptor.duplicate(ofNumber: number)
            return try make(stream, encryption: encryption, on: operation)
        case .nowhere:
            let stream = try FileDescriptor.open("/dev/null", .writing)
            return try make(stream, encryption: encryption, on: operation)
        case .command(let command):
            let stream = try command.startTaking(sizeEstimate: sizeEstimate)
            do {
                return try make(stream, of: command, encryption: encryption, on: operation)
            } catch {
                throw command.end(after: error)
            }
        case .remote(let remote):
            return try make(on: remote, on: operation)
        case .file(let path, let replacesExisting):
            return try makeNew(at: path, replacesExisting, encryption: encryption, on: operation)
        }
    }

    private static func makeNew(
        at path: BytePath,
        _ replacesExisting: Bool,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        if replacesExisting { try checkIsReplaceable(path) }
        do throws(SystemError) {
            return try make(
                at: path,
                replacesExisting: replacesExisting,
                encryption: encryption,
                on: operation
            )
        } catch {
            throw failure(error, at: path)
        }
    }

    private static func resume(
        _ destination: ArchiveDestination,
        at path: BytePath,
        settingAside: ((BytePath) -> Void)?,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        guard case .file(_, let replacesExisting) = destination.target else {
            preconditionFailure("only a file has a path")
        }
        if replacesExisting { try checkIsReplaceable(path) }
        var pending: PendingFile? = try openBegun(path, replacesExisting, on: operation)
        guard let file = pending?.file else { throw failure(.busy, at: path) }
        do {
            let descriptor = try file.descriptor.duplicate()
            let beginning = try ArchiveBeginning(proving: descriptor, on: operation)
            let space = try pending?.availableSpace()
            return ArchiveFile(
                pending: pending.take(),
                path: path,
                resumes: true,
                beginning: beginning,
                output: try ArchiveOutput(writing: file.descriptor.duplicate(), on: operation),
                identity: try file.descriptor.status().identity,
                availableSpace: space.map { $0 + beginning.provedBytes }
            )
        } catch {
            let isOfContent = (error as? ArchiveError).map { $0.code != .inputFailed } ?? false
            guard isOfContent, let settingAside, let unusable = pending.take() else {
                pending.take()?.leave()
                throw unresumable(error, at: path)
            }
            do throws(SystemError) {
                settingAside(path.parent / (try unusable.setAside()))
            } catch {
                throw failure(error, at: path)
            }
        }
        return try resume(destination, at: path, settingAside: nil, on: operation)
    }

    private static func openBegun(
        _ path: BytePath,
        _ replacesExisting: Bool,
        on operation: MigrationOperation
    ) throws -> PendingFile {
        do throws(SystemError) {
            return try PendingFile.make(
                at: BytePath(resolving: path),
                replacesExisting: replacesExisting,
                resumes: true
            ) { file throws(SystemError) in
                try ArchiveBeginning.isCut(file.descriptor.duplicate(), operation)
            }
        } catch {
            throw failure(error, at: path)
        }
    }

    /// The reason why the begun archive at `path` can't be resumed.
    private static func unresumable(_ error: any Error, at path: BytePath) -> any Error {
        guard let error = error as? ArchiveError, error.code != .inputFailed else { return error }
        let message =
            "what is left of the archive can't be resumed: \(error); remove the file that ends in "
            + "'.partial' first"
        return MigrationError(.outputFailed, message, path: path)
    }

    private static func make(
        _ stream: consuming FileDescriptor,
        of command: StreamCommand? = nil,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        let identity = try stream.status().identity
        return ArchiveFile(
            pending: nil,
            path: nil,
            consumer: command,
            output: try ArchiveOutput(
                writing: stream,
                encryption: encryption,
                on: operation
            ),
            identity: identity,
            availableSpace: nil
        )
    }

    private static func make(
        on remote: RemoteArchive,
        on operation: MigrationOperation
    ) throws -> ArchiveFile {
        let beginning = try remote.start(operation)
        do {
            let stream = try remote.openStream()
            let identity = try stream.status().identity
            return ArchiveFile(
                pending: nil,
                path: nil,
                consumer: remote,
                beginning: beginning,
                output: try ArchiveOutput(writing: stream, isRemote: true, on: operation),
                identity: identity,
                availableSpace: nil
            )
        } catch {
            throw remote.end(after: error)
        }
    }

    private static func make(
        at path: BytePath,
        replacesExisting: Bool,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws(SystemError) -> ArchiveFile {
        let pending = try PendingFile.make(
            at: BytePath(resolving: path),
            replacesExisting: replacesExisting
        )
        let space: UInt64
        let output: ArchiveOutput
        let identity: FileStatus.Identity
        do {
            let file = pending.file
            space = try pending.availableSpace()
            identity = try file.descriptor.status().identity
            output = try ArchiveOutput(
                writing: file.descriptor.duplicate(),
                encryption: encryption,
                on: operation
            )
        } catch {
            pending.discard()
            throw error
        }
        return ArchiveFile(
            pending: pending,
            path: path,
            output: output,
            identity: identity,
            availableSpace: space
        )
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
    package consuming func commit() throws {
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
    @discardableResult
    package consuming func discard(after error: any Error) -> any Error {
        if let file = pending.take() {
            if resumes { file.leave() } else { file.discard() }
        }
        return consumer?.end(after: error) ?? error
    }
}
