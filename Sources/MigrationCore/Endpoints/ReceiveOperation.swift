internal import Foundation
package import MigrationArchive
internal import MigrationSystem

/// An archive that came from another host.
package struct ReceivedArchive: Sendable {
    /// The archive's fingerprint.
    package let fingerprint: Fingerprint

    /// Whether the archive already existed, complete and with the same data.
    package let isUnchanged: Bool
}

/// The receiving end of one transfer.
struct ReceiveOperation {
    let path: BytePath
    let replacesExisting: Bool
    let input: OpenFile
    let output: OpenFile
    let settingAside: (BytePath) -> Void
    let operation: MigrationOperation

    func run() throws -> ReceivedArchive {
        if let file = try begin() { return try receive(file) }
        do {
            return try compareWithPresent()
        } catch is PeerReader.CutShort {
            throw Self.cut("its archive could be compared with the one that is there")
        }
    }

    /// Opens the file to write; `nil` if the archive exists already and is not to be replaced.
    private func begin() throws -> ArchiveFile? {
        let destination = ArchiveDestination.file(path: path, replacesExisting: replacesExisting)
        do {
            return try ArchiveFile.make(
                at: destination.resumed(),
                settingAside: settingAside,
                on: operation
            )
        } catch let error as MigrationError where error.code == .outputExists && !replacesExisting {
            return nil
        }
    }

    private static func cut(_ missed: String) -> MigrationError {
        MigrationError(.commandFailed, "the sender stopped before \(missed)")
    }

    // MARK: - A new archive

    private func receive(_ file: consuming ArchiveFile) throws -> ReceivedArchive {
        var file = file
        let fingerprint: Fingerprint
        do {
            guard let beginning = file.beginning else { preconditionFailure("it is resumed") }
            var reader = try offer(beginning)
            if let kept = try keptHeader(of: beginning, &reader) {
                guard beginning.hasBoundary(at: kept.end) else { throw Self.isMalformed }
                try file.output.goOn(at: 0, dropsRest: false)
                try file.output.write(kept.header.span)
                try file.output.goOn(at: kept.end)
            } else {
                try file.output.goOn(at: 0)
            }
            try reader.copyRest(to: file.output)
            fingerprint = try file.prove()
        } catch {
            let error = file.discard(after: error)
            // An archive that was cut within its first bytes doesn't even show its format.
            let isOfCut =
                error is PeerReader.CutShort
                || [.truncated, .notAnArchive].contains((error as? ArchiveError)?.code)
            guard isOfCut else { throw error }
            throw Self.cut("the archive was whole; what came is kept for the next time")
        }
        try file.commit()
        return ReceivedArchive(fingerprint: fingerprint, isUnchanged: false)
    }

    /// Tells the sender how much of the archive exists; returns a reader of the sender's messages.
    private func offer(_ beginning: ArchiveBeginning) throws -> PeerReader {
        let answer = RemoteArchive.greeting + beginning.encoded
        let event = try CancellationEvent(of: operation.cancellation)
        try output.descriptor.writeAll(answer.span, unless: event)
        return try PeerReader(of: input, operation)
    }

    /// Reads the header's frame and the end of the pieces that stay; `nil` if none does.
    private func keptHeader(
        of beginning: ArchiveBeginning,
        _ reader: inout PeerReader
    ) throws -> (header: [UInt8], end: UInt64)? {
        switch try reader.read(1) {
        case [0]: return nil
        case [1]:
            let header = try reader.read(beginning.headerSize)
            return (header, try reader.read(8).littleEndian(at: 0))
        default: throw Self.isMalformed
        }
    }

    private static var isMalformed: MigrationError {
        MigrationError(.commandFailed, "the sender's answer can't be understood")
    }

    // MARK: - An existing archive

    private func compareWithPresent() throws -> ReceivedArchive {
        let (beginning, fingerprint) = try present()
        var reader = try offer(beginning)
        guard let kept = try keptHeader(of: beginning, &reader),
            kept.end == beginning.provedBytes,
            try self.fingerprint(of: kept, &reader) == fingerprint
        else {
            let message = "an archive of other data has that name"
            throw MigrationError(.outputExists, message, path: path)
        }
        return ReceivedArchive(fingerprint: fingerprint, isUnchanged: true)
    }

    /// Proves the pieces of the archive that already exists.
    private func present() throws -> (ArchiveBeginning, Fingerprint) {
        do {
            let file = OpenFile(try FileDescriptor.openFollowingLinks(path, .reading))
            // Opening a pipe would wait.
            guard try file.descriptor.status().kind == .regular else {
                throw ArchiveError(.notAnArchive, "not a file")
            }
            guard let fingerprint = try fingerprint(of: file) else {
                throw ArchiveError(.notAnArchive, "not a migration archive")
            }
            let beginning = try ArchiveBeginning(
                proving: file.descriptor.duplicate(),
                on: operation
            )
            return (beginning, fingerprint)
        } catch  where error is ArchiveError || error is SystemError {
            let message = "something of that name is there that is not a whole archive"
            throw MigrationError(.outputExists, message, path: path, cause: error)
        }
    }

    /// The fingerprint of the sender's archive, from the index that it sends, without looking at
    /// the pieces between the header and the index.
    private func fingerprint(
        of kept: (header: [UInt8], end: UInt64),
        _ reader: inout PeerReader
    ) throws -> Fingerprint? {
        let directory = try FileDescriptor.open(BytePath(resolving: path).parent, .directory)
        let file = OpenFile(try directory.openTemporary())
        let output = try ArchiveOutput(
            writing: file.descriptor.duplicate(),
            on: operation
        )
        try output.write(kept.header.span)
        try output.goOn(at: kept.end, dropsRest: false)
        try reader.copyRest(to: output)
        do {
            return try fingerprint(of: file)
        } catch let error as ArchiveError where error.code == .truncated {
            throw PeerReader.CutShort()
        }
    }

    private func fingerprint(of file: OpenFile) throws -> Fingerprint? {
        let input = try ArchiveInput(reading: file.descriptor.duplicate(), on: operation)
        return try ArchiveReader(input, access: .selective).fingerprint
    }
}
