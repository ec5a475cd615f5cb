package import MigrationSystem

/// Where the bytes of an archive go: a file, or a pipe whose reader may be slow or gone.
///
/// Safe because one thread at a time writes.
package final class ArchiveOutput: @unchecked Sendable {
    private let descriptor: FileDescriptor
    private let cancellation: CancellationFlag
    private let isPipe: Bool

    /// The bytes that a pipe takes without waiting once it is ready (POSIX.1-2017, PIPE_BUF).
    private static let pipeUnit = 4096

    /// Writes to `descriptor` from where it stands.
    package init(
        writing descriptor: consuming FileDescriptor,
        cancellation: CancellationFlag
    ) throws(SystemError) {
        isPipe = try descriptor.status().kind != .regular
        self.descriptor = descriptor
        self.cancellation = cancellation
    }

    /// Writes every byte of `bytes`.
    package func write(_ bytes: Span<UInt8>) throws {
        try reportingFailures {
            if isPipe { return try writeInUnits(bytes) }
            try cancellation.check()
            try descriptor.writeAll(bytes)
        }
    }

    /// Writes every byte of `frame`.
    func write(_ frame: StoredFrame) throws {
        try reportingFailures {
            try unsafe frame.withPieces { pieces in
                if isPipe {
                    try unsafe pieces.forEach { piece in
                        try writeInUnits(unsafe piece.bindMemory(to: UInt8.self).span)
                    }
                } else {
                    try cancellation.check()
                    try unsafe descriptor.writeAll(gathering: pieces)
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

    private func writeInUnits(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            while try !descriptor.waits(until: .writable, milliseconds: 100) {
                try cancellation.check()
            }
            let count = min(Self.pipeUnit, rest.count)
            try descriptor.writeAll(rest.extracting(first: count))
            rest = rest.extracting(droppingFirst: count)
        }
    }
}
