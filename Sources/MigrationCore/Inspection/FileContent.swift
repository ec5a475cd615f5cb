package import Foundation
package import MigrationArchive
internal import MigrationSystem

extension ArchiveSource {
    /// Passes the content of the file at `path` to `body`, piece by piece, with zeros for its holes.
    ///
    /// In a stream, the path may be a printed name (`isPrinted`). Each piece was already checked against its hash. Content from a
    /// pipe is proved complete only when the method returns.
    ///
    /// - Returns: The description of the archive.
    /// - Throws: `ArchiveError` of code `notFound` if there is no such entry, and if the archive can't be
    ///   read; ``MigrationError`` of code `invalidOption` if the entry is not a file, and of code
    ///   `fingerprintMismatch` unless the archive is the expected one; errors of `body`;
    ///   `CancellationError`.
    @concurrent
    package func readFile(
        at path: EntryPath,
        isPrinted: Bool = false,
        expecting fingerprint: Fingerprint? = nil,
        progress: Progress? = nil,
        _ body: @Sendable (Span<UInt8>) throws -> Void
    ) async throws -> ArchiveInspection {
        try await withOperation(threadCount: 1, progress: progress) { operation in
            var content = FileContent(
                source: self,
                names: isPrinted ? PrintedNames([path]) : nil,
                expectedFingerprint: fingerprint,
                operation: operation
            )
            return try content.read(path, body)
        }
    }
}

/// Reads the content of one file out of an archive.
private struct FileContent {
    /// The longest chain of hard links to follow.
    private static let linkLimit = 8

    let source: ArchiveSource
    /// In a stream, the file by a name that may be in printed form.
    var names: PrintedNames?
    let expectedFingerprint: Fingerprint?
    let operation: MigrationOperation

    mutating func read(
        _ path: EntryPath,
        _ body: (Span<UInt8>) throws -> Void
    ) throws -> ArchiveInspection {
        var current = path
        for _ in 0...Self.linkLimit {
            let input = try source.open(operation)
            let isPipe = input.size == nil || names != nil
            operation.progress?.setTotal(Int64(clamping: input.size ?? 0))
            let reader = try ArchiveReader(input, access: .selective)
            var occurrence: Int?
            if !isPipe {
                try expectedFingerprint?.check(reader.fingerprint)
                occurrence = try lastOccurrence(of: current, in: reader)
                _ = try reader.select([current])
            }
            guard let target = try read(current, occurrence: occurrence, from: reader, body) else {
                if isPipe { try expectedFingerprint?.check(reader.fingerprint) }
                return ArchiveInspection(reader)
            }
            guard !isPipe else {
                let message =
                    "another name of \(target): name that one, or read the archive from a file"
                throw MigrationError(.invalidOption, message, path: BytePath(path.bytes))
            }
            current = target
        }
        throw ArchiveError(.refused, "too many hard links lead to the file", entry: path)
    }

    /// Which of the entries at `path` counts, from 1; `nil` if a path occurs only once.
    ///
    /// In another program's tar file the last one counts.
    private func lastOccurrence(of path: EntryPath, in reader: ArchiveReader) throws -> Int? {
        guard reader.header == nil else { return nil }
        let scan = try ArchiveReader(source.open(operation), access: .selective)
        var count = 0
        while let entry = try scan.next() {
            try operation.check()
            if entry.path == path, !entry.isLinkToItself { count += 1 }
        }
        return count
    }

    /// Passes the content of the file to `body`; returns the target of a hard link instead.
    private mutating func read(
        _ path: EntryPath,
        occurrence: Int?,
        from reader: ArchiveReader,
        _ body: (Span<UInt8>) throws -> Void
    ) throws -> EntryPath? {
        var count = 0
        while let entry = try reader.next() {
            try operation.check()
            operation.progress?.completedUnitCount = Int64(clamping: reader.consumedBytes)
            guard isNamed(entry.path, path), !entry.isLinkToItself else { continue }
            count += 1
            if let occurrence, count < occurrence { continue }
            guard count == occurrence ?? 1 else {
                // Bytes already written can't be taken back.
                throw ArchiveError(.refused, "comes twice in a tar file from a pipe", entry: path)
            }
            if case .hardLink(let target) = entry.kind { return target }
            try pass(entry, of: reader, body)
            // Only in a file of this project's format is each piece verified separately.
            if names == nil, reader.header != nil, reader.archiveBytes != nil { return nil }
        }
        try names?.checkCompleteness()
        guard count > 0 else {
            throw ArchiveError(.notFound, "the archive has no such entry", entry: path)
        }
        return nil
    }

    private mutating func isNamed(_ path: EntryPath, _ name: EntryPath) -> Bool {
        guard names?.finds(path) ?? (path == name) else { return false }
        return names?.hasFound(path) ?? true
    }

    private func pass(
        _ entry: ArchiveEntry,
        of reader: ArchiveReader,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        guard case .file(let size) = entry.kind else {
            let kind = entry.kind == .directory ? "a directory" : "a symbolic link"
            let message = "\(kind), and only the content of a file can go to standard output"
            throw MigrationError(.invalidOption, message, path: BytePath(entry.path.bytes))
        }
        try reader.readContent(ofSize: size) { piece in
            try operation.check()
            try body(piece)
            operation.progress?.completedUnitCount = Int64(clamping: reader.consumedBytes)
        }
    }
}

extension ArchiveReader {
    /// Passes the content of the current entry, which has `size` bytes, to `body`, with zeros for its holes.
    package func readContent(
        ofSize size: UInt64,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        let zeros = [UInt8](repeating: 0, count: 64 * 1024)
        var position: UInt64 = 0
        func fill(to end: UInt64) throws {
            while position < end {
                let count = Int(min(UInt64(zeros.count), end - position))
                try body(zeros.span.extracting(first: count))
                position += UInt64(count)
            }
        }
        try readContent { offset, piece in
            try fill(to: offset)
            try body(piece)
            position += UInt64(piece.count)
        }
        try fill(to: size)
    }
}
