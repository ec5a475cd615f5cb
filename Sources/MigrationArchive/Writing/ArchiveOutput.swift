package import MigrationSystem

/// The output of an archive's bytes, encrypted or not: a file, a pipe whose reader may be slow or
/// closed, or a peer that has the beginning of the archive.
///
/// Safe because one thread at a time writes.
package final class ArchiveOutput: @unchecked Sendable {
    /// The operation that writes.
    package let operation: MigrationOperation

    private let target: OutputTarget
    private let encryption: ArchiveEncryption?
    private var sealing: Sealing?

    /// Writes to `descriptor` from its current position.
    package init(
        writing descriptor: consuming FileDescriptor,
        encryption: ArchiveEncryption? = nil,
        on operation: MigrationOperation
    ) throws(SystemError) {
        target = try OutputTarget(descriptor, operation)
        self.encryption = encryption
        self.operation = operation
    }

    /// Writes to a peer that has an ``ArchiveBeginning``, whose kept bytes are not sent.
    ///
    /// The first byte says whether something is kept. If so, the header's frame comes next, and then the offset
    /// at which the bytes after it belong, in 8 bytes, little-endian.
    package init(
        sendingTo descriptor: consuming FileDescriptor,
        on operation: MigrationOperation
    ) throws(SystemError) {
        target = try OutputTarget(descriptor, isRemote: true, operation)
        encryption = nil
        self.operation = operation
    }

    /// Begins an archive, encrypted if requested.
    func begin() throws {
        guard let encryption else { return }
        let target = target
        sealing = try Sealing(encryption, on: operation) { try target.write($0) }
    }

    /// Writes every byte of `bytes`.
    package func write(_ bytes: Span<UInt8>) throws {
        if let sealing { return try sealing.append(bytes) }
        try target.write(bytes)
    }

    /// Writes every byte of `frame`.
    func write(_ frame: StoredFrame) throws {
        guard let sealing else { return try target.write(frame) }
        try unsafe frame.withPieces { pieces in
            try unsafe sealing.append(pieces)
        }
    }

    /// Continues at `offset` of the file, and drops everything after that, unless it is still needed.
    package func goOn(at offset: UInt64, dropsRest: Bool = true) throws {
        try target.goOn(at: offset, dropsRest: dropsRest)
    }

    /// Ends the archive; returns how many bytes were written.
    func finish() throws -> UInt64 {
        try sealing?.finish()
        sealing = nil
        return target.count
    }

    /// Abandons the archive.
    func abandon() {
        sealing?.abandon()
        sealing = nil
    }

    /// Closes the file or pipe, so that a pipe's reader sees the end; nothing may be written
    /// afterwards.
    package func close() { target.close() }
}

/// The file or pipe itself.
///
/// Safe because one thread at a time writes.
private final class OutputTarget: @unchecked Sendable {
    /// `nil` once it is closed.
    private var file: OpenFile?
    private let operation: MigrationOperation
    /// Ends the wait for a pipe's reader; `nil` for a file, which never makes a writer wait.
    private let event: CancellationEvent?
    /// Whether a peer has the beginning of the archive.
    private let isRemote: Bool

    /// How many bytes were written.
    private(set) var count: UInt64 = 0

    init(
        _ descriptor: consuming FileDescriptor,
        isRemote: Bool = false,
        _ operation: MigrationOperation
    ) throws(SystemError) {
        let isFile = try descriptor.status().kind == .regular
        event = isFile ? nil : try CancellationEvent(of: operation.cancellation)
        file = OpenFile(descriptor)
        self.isRemote = isRemote
        self.operation = operation
    }

    func close() { file = nil }

    func goOn(at offset: UInt64, dropsRest: Bool) throws {
        try reportingFailures {
            if isRemote {
                var message: [UInt8] = []
                if offset == 0 {
                    message.append(dropsRest ? 0 : 1)
                } else {
                    message.appendLittleEndian(offset)
                }
                try writeToPipe(message.span)
            } else {
                if dropsRest { try open().descriptor.setSize(offset) }
                try open().descriptor.seek(to: offset)
            }
            count = offset
        }
    }

    private func open() throws(SystemError) -> OpenFile {
        guard let file else { throw .invalid("write") }
        return file
    }

    /// Writes every byte of `bytes`.
    package func write(_ bytes: Span<UInt8>) throws {
        try reportingFailures {
            if event != nil { return try writeToPipe(bytes) }
            try operation.check()
            try open().descriptor.writeAll(bytes)
            count += UInt64(bytes.count)
        }
    }

    /// Writes every byte of `frame`.
    func write(_ frame: StoredFrame) throws {
        try reportingFailures {
            try unsafe frame.withPieces { pieces in
                if event != nil {
                    try unsafe pieces.forEach { piece in
                        try writeToPipe(unsafe piece.bindMemory(to: UInt8.self).span)
                    }
                } else {
                    try operation.check()
                    try unsafe open().descriptor.writeAll(gathering: pieces)
                    count += unsafe pieces.reduce(0) { $0 + UInt64($1.count) }
                }
            }
        }
    }

    private func reportingFailures(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SystemError {
            throw ArchiveError(
                error.isOutOfSpace ? .outOfSpace : .outputFailed,
                "writing the archive failed",
                cause: error
            )
        }
    }

    private func writeToPipe(_ bytes: Span<UInt8>) throws {
        try open().descriptor.writeAll(bytes, unless: event)
        count += UInt64(bytes.count)
    }
}
