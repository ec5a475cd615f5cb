package import MigrationSystem

/// The output of an archive's bytes, encrypted or not: a file, a pipe whose reader may be slow or
/// closed, or a peer that has the beginning of the archive.
///
/// Safe because one thread at a time writes.
package final class ArchiveOutput: @unchecked Sendable {
    /// The operation that writes.
    package let operation: MigrationOperation

    /// The identity of the file or pipe.
    package let identity: FileStatus.Identity

    /// `nil` once it is closed.
    private var file: OpenFile?
    /// Ends the wait for a pipe's reader; `nil` for a file, which never makes a writer wait.
    private let event: CancellationEvent?
    /// Whether a peer has the beginning of the archive.
    private let isRemote: Bool
    private let encryption: ArchiveEncryption?
    /// Encrypts an archive that has begun, and refers to this output until the archive ends.
    private var sealing: Sealing?
    /// How many bytes were written.
    private var count: UInt64 = 0

    /// Writes to `descriptor` from its current position.
    ///
    /// If it leads to a peer (`isRemote`), the peer has an ``ArchiveBeginning``, and what it keeps of that is not
    /// sent. The first byte says whether something is kept. If so, the header's frame comes next, and then the
    /// offset at which the bytes after it belong, in 8 bytes, little-endian.
    package init(
        writing descriptor: consuming FileDescriptor,
        isRemote: Bool = false,
        encryption: ArchiveEncryption? = nil,
        on operation: MigrationOperation
    ) throws(SystemError) {
        let status = try descriptor.status()
        let isFile = status.kind == .regular
        identity = status.identity
        event = isFile ? nil : try CancellationEvent(of: operation.cancellation)
        file = OpenFile(descriptor)
        (self.isRemote, self.encryption, self.operation) = (isRemote, encryption, operation)
    }

    /// Begins an archive, encrypted if requested.
    func begin() throws {
        guard let encryption else { return }
        sealing = try Sealing(encryption, on: operation) { [self] in try put($0) }
    }

    /// Writes every byte of `bytes`.
    package func write(_ bytes: Span<UInt8>) throws {
        if let sealing { return try sealing.append(bytes) }
        try put(bytes)
    }

    /// Writes every byte of `frame`.
    func write(_ frame: StoredFrame) throws {
        try unsafe frame.withPieces { pieces in
            if let sealing { return try unsafe sealing.append(pieces) }
            guard event == nil else {
                return try unsafe pieces.forEach { piece in
                    try put(unsafe piece.bindMemory(to: UInt8.self).span)
                }
            }
            try reportingFailures { file in
                try operation.check()
                try unsafe file.descriptor.writeAll(gathering: pieces)
            }
            count += unsafe pieces.reduce(0) { $0 + UInt64($1.count) }
        }
    }

    /// Continues at `offset` of the file, and drops everything after that, unless it is still needed.
    package func goOn(at offset: UInt64, dropsRest: Bool = true) throws {
        if isRemote {
            var message: [UInt8] = []
            if offset == 0 {
                message.append(dropsRest ? 0 : 1)
            } else {
                message.appendLittleEndian(offset)
            }
            try put(message.span)
        } else {
            try reportingFailures { file in
                if dropsRest { try file.descriptor.setSize(offset) }
                try file.descriptor.seek(to: offset)
            }
        }
        count = offset
    }

    /// Ends the archive; returns how many bytes were written.
    func finish() throws -> UInt64 {
        defer { sealing = nil }
        try sealing?.finish()
        return count
    }

    /// Abandons the archive.
    func abandon() {
        sealing?.abandon()
        sealing = nil
    }

    /// Closes the file or pipe, so that a pipe's reader sees the end; nothing may be written
    /// afterwards.
    package func close() { file = nil }

    /// Writes to the file or pipe itself.
    private func put(_ bytes: Span<UInt8>) throws {
        try reportingFailures { file in
            if let event {
                try file.descriptor.writeAll(bytes, unless: event)
            } else {
                try operation.check()
                try file.descriptor.writeAll(bytes)
            }
        }
        count += UInt64(bytes.count)
    }

    private func reportingFailures(_ body: (OpenFile) throws -> Void) throws {
        do {
            guard let file else { throw SystemError.invalid("write") }
            try body(file)
        } catch let error as SystemError {
            throw ArchiveError(
                error.isOutOfSpace ? .outOfSpace : .outputFailed,
                "writing the archive failed",
                cause: error
            )
        }
    }
}
