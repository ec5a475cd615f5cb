public import Foundation
public import MigrationArchive
package import MigrationSystem

/// Where an archive is written to.
public struct ArchiveDestination: Sendable {
    fileprivate enum Target {
        case file([UInt8], replacingExisting: Bool)
        case descriptor(Int32)
    }

    fileprivate let target: Target

    /// For whom the archive is encrypted; `nil` where it is not.
    private(set) var encryption: ArchiveEncryption?

    /// The path of the file; `nil` for a descriptor.
    var path: [UInt8]? {
        if case .file(let path, _) = target { path } else { nil }
    }

    /// A file that appears under its name only when the archive is whole, readable by its owner alone.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - replacingExisting: Whether a file that is there is replaced; otherwise it is an error.
    /// - Returns: The destination, in which nothing happens before the export.
    public static func file(_ url: URL, replacingExisting: Bool = false) -> ArchiveDestination {
        .file(path: ByteString(pathOf: url), replacingExisting: replacingExisting)
    }

    /// A file at a path of any bytes.
    package static func file(path: [UInt8], replacingExisting: Bool) -> ArchiveDestination {
        ArchiveDestination(target: .file(path, replacingExisting: replacingExisting))
    }

    /// An open descriptor, such as 1 for standard output, to which the archive is written as it is made.
    ///
    /// The descriptor stays open. What was written before a failure is not taken back.
    ///
    /// - Parameter number: The number of the descriptor, which is open for writing.
    /// - Returns: The destination.
    public static func descriptor(_ number: Int32) -> ArchiveDestination {
        ArchiveDestination(target: .descriptor(number))
    }

    /// The same destination, at which the archive is encrypted.
    ///
    /// - Parameter encryption: For whom.
    /// - Returns: The destination.
    public func encrypted(with encryption: ArchiveEncryption) -> ArchiveDestination {
        var destination = self
        destination.encryption = encryption
        return destination
    }
}

/// The output of an export, open: a file that appears when it is whole, or a stream.
package struct ArchiveFile: ~Copyable {
    private var pending: PendingFile?
    private let path: [UInt8]?

    /// Where the archive's bytes go.
    package let output: ArchiveOutput

    /// What tells the file from others.
    let identity: FileStatus.Identity

    /// The bytes that may be written; `nil` for a stream.
    let availableSpace: UInt64?

    private init(
        pending: consuming PendingFile?,
        path: [UInt8]?,
        output: ArchiveOutput,
        identity: FileStatus.Identity,
        availableSpace: UInt64?
    ) {
        self.pending = pending
        self.path = path
        self.output = output
        self.identity = identity
        self.availableSpace = availableSpace
    }

    package static func make(
        at destination: ArchiveDestination,
        cancellation: CancellationFlag
    ) throws -> ArchiveFile {
        switch destination.target {
        case .descriptor(let number):
            let descriptor = try FileDescriptor.duplicate(ofNumber: number)
            let identity = try descriptor.status().identity
            return ArchiveFile(
                pending: nil,
                path: nil,
                output: try ArchiveOutput(
                    writing: descriptor,
                    encryption: destination.encryption,
                    cancellation: cancellation
                ),
                identity: identity,
                availableSpace: nil
            )
        case .file(let path, let replacingExisting):
            if replacingExisting { try checkIsReplaceable(path) }
            do throws(SystemError) {
                return try make(path, replacingExisting, destination.encryption, cancellation)
            } catch {
                throw failure(error, at: path)
            }
        }
    }

    private static func make(
        _ path: [UInt8],
        _ replacingExisting: Bool,
        _ encryption: ArchiveEncryption?,
        _ cancellation: CancellationFlag
    ) throws(SystemError) -> ArchiveFile {
        let pending = try PendingFile.make(
            at: PathName(resolving: path),
            replacingExisting: replacingExisting
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
                cancellation: cancellation
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

    /// Throws where something is at `path` that must not give way to a file, such as a device.
    private static func checkIsReplaceable(_ path: [UInt8]) throws(MigrationError) {
        let kind: FileStatus.Kind
        do {
            kind = try FileDescriptor.status(atPath: PathName(resolving: path).path).kind
        } catch {
            if error.isMissing { return }
            throw failure(error, at: path)
        }
        guard kind != .regular else { return }
        let message = "what is there is no file, and only a file is replaced"
        throw MigrationError(.outputExists, message, path: path)
    }

    private static func failure(_ error: SystemError, at path: [UInt8]) -> MigrationError {
        if error.isExisting {
            let message = "a file of that name is there already; it is replaced only on request"
            return MigrationError(.outputExists, message, path: path)
        }
        if error.isBusy {
            let message = "another export is writing this archive"
            return MigrationError(.outputFailed, message, path: path)
        }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "the archive can't be written", path: path, cause: error)
    }

    /// Gives the file its name.
    package consuming func commit() throws {
        guard let file = pending.take() else { return }
        do {
            try file.commit()
        } catch {
            throw Self.failure(error, at: path ?? [])
        }
    }

    /// Removes what was written, as far as it can be.
    package consuming func discard() {
        guard let file = pending.take() else { return }
        file.discard()
    }
}
