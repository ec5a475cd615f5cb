internal import MigrationArchive
package import MigrationSystem

/// A small file given on the command line, such as a rules file.
package enum InputFile {
    /// Reads a file or pipe of at most `limit` bytes.
    package static func read(
        _ path: BytePath,
        limit: Int = 4 << 20
    ) throws(AndroidMigrationError) -> [UInt8] {
        let name = PrintableText.escaping(path)
        do throws(SystemError) {
            let file = try FileDescriptor.openFollowingLinks(path, .reading)
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                _ = try file.waits(until: .readable, or: nil)
                let count = try file.read(into: &buffer, from: 0, count: buffer.count)
                if count == 0 { return bytes }
                bytes += buffer[..<count]
                guard bytes.count <= limit else { break }
            }
        } catch {
            throw AndroidMigrationError(.unreadable, "'\(name)' can't be read", cause: error)
        }
        throw AndroidMigrationError(.unreadable, "'\(name)' is larger than \(limit) bytes")
    }
}
