package import MigrationCore
package import MigrationSystem

/// A page or a log that a command writes besides its answer.
///
/// A regular file appears under its name when it is complete. Pipes and devices are written to,
/// never replaced.
package struct PageFile: Sendable {
    private let path: BytePath
    private let target: BytePath
    private let stream: OpenFile?
    private let replacesExisting: Bool

    /// Names the file at `path`, the value of `flag`, before the work begins.
    ///
    /// - Throws: ``MigrationError`` of codes `outputExists` and `outputFailed` if it can't be written.
    package init(
        at path: BytePath,
        named flag: String? = nil,
        replacesExisting: Bool
    ) throws(MigrationError) {
        self.path = path
        self.replacesExisting = replacesExisting
        do throws(SystemError) {
            if let opened = try FileDescriptor.openStream(at: path) {
                stream = OpenFile(opened)
            } else {
                stream = nil
            }
            target = try Self.target(of: path)
            if stream == nil {
                try PendingFile.make(at: target, replacesExisting: replacesExisting).discard()
            }
        } catch {
            guard let flag, error.isMissing else {
                throw Self.failure(error, at: path, replacesExisting)
            }
            let message = "the directory of \(flag) can't be used"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }

    /// The file that a link at `path` leads to, or `path` itself.
    private static func target(of path: BytePath) throws(SystemError) -> BytePath {
        do throws(SystemError) {
            return try BytePath(resolvingWhole: path)
        } catch {
            guard error.isMissing else { throw error }
            return try BytePath(resolving: path)
        }
    }

    /// Writes `text` as the whole file.
    package func write(_ text: String) throws {
        if let stream {
            let output = TextOutput(
                descriptor: stream.descriptor.rawValue,
                capacity: 1 << 16
            )
            do throws(OutputError) {
                try output.write(text)
                return try output.flush()
            } catch {
                guard case .failed(let cause) = error else { throw error }
                throw Self.failure(cause, at: path, replacesExisting)
            }
        }
        do throws(SystemError) {
            try PendingFile.write(
                [UInt8](text.utf8),
                at: target,
                replacesExisting: replacesExisting
            )
        } catch {
            throw Self.failure(error, at: path, replacesExisting)
        }
    }

    private static func failure(
        _ error: SystemError,
        at path: BytePath,
        _ replacesExisting: Bool
    ) -> MigrationError {
        guard error.isExisting else {
            let message = "the file can't be written"
            return MigrationError(.outputFailed, message, path: path, cause: error)
        }
        let message =
            replacesExisting
            ? "what is there isn't a regular file and is not replaced" : "the file exists already"
        return MigrationError(.outputExists, message, path: path)
    }
}
