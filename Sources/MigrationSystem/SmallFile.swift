internal import CMigrationShims

/// Files that are read completely, such as keys, signatures and lists from the command line.
package enum SmallFile {
    /// Reads a file or a pipe to its end; `nil` if it holds more than `limit` bytes.
    ///
    /// The result is the only copy in memory, so that its owner can wipe a secret.
    ///
    /// - Throws: ``SystemError``; `CancellationError` if `cancellation` ends the wait for a writer.
    package static func read(
        _ path: BytePath,
        limit: Int,
        cancellation: CancellationFlag
    ) throws -> [UInt8]? {
        let event = try CancellationEvent(of: cancellation)
        let file = try FileDescriptor.openFollowingLinks(path, .reading)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            try cancellation.check()
            // Before it has a writer, a FIFO would seem to be at its end.
            guard try file.waits(until: .readable, or: event) else { throw CancellationError() }
            do throws(SystemError) {
                let count = try file.read(into: &bytes, from: filled, count: bytes.count - filled)
                if count == 0 { break }
                filled += count
            } catch {
                // Another reader of the pipe was faster.
                guard error.isBusy else { throw error }
            }
        }
        bytes.removeLast(bytes.count - filled)
        return filled > limit ? nil : bytes
    }
}

extension OpenFile {
    /// Makes a file in memory that holds `bytes`, for a program that reads it from its start.
    package static func inMemory(holding bytes: [UInt8]) throws(SystemError) -> OpenFile {
        let number = migration_make_memory_file()
        guard number >= 0 else { throw SystemError("memfd_create") }
        let file = FileDescriptor(adopting: number)
        try file.writeAll(bytes.span, at: 0)
        return OpenFile(file)
    }
}
