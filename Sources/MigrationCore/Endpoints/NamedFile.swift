package import MigrationSystem

/// A small file that a person names, such as a key, a signature or a list of patterns.
package enum NamedFile {
    /// Reads a file or a pipe of at most `limit` bytes to its end.
    ///
    /// - Throws: ``MigrationError`` of code `code` if it can't be read or is larger; the message calls it `name`.
    ///   `CancellationError` if `cancellation` ends the wait for a writer.
    package static func read(
        _ path: BytePath,
        called name: String,
        failing code: MigrationError.Code,
        limit: Int,
        cancellation: CancellationFlag
    ) throws -> [UInt8] {
        let cause: any Error
        do {
            let bytes = try SmallFile.read(path, limit: limit, cancellation: cancellation)
            if let bytes { return bytes }
            cause = MigrationError(code, "it is larger than \(ByteCount(UInt64(limit)))")
        } catch let error as SystemError {
            cause = error
        }
        throw MigrationError(code, "\(name) can't be read", path: path, cause: cause)
    }
}
