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

extension RulesFile {
    /// Reads a rules file, which a manifest calls by its name.
    package static func read(_ path: BytePath) throws(AndroidMigrationError) -> RulesFile {
        var file = try RulesFile(InputFile.read(path))
        file.name = name(of: path)
        return file
    }

    /// The name by which a manifest calls the file at `path`; `nil` if it has no suffix of one.
    package static func name(of path: BytePath) -> String? {
        let suffix = [UInt8](".xml".utf8)
        let name = path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard name.count > suffix.count, name.suffix(suffix.count).elementsEqual(suffix) else {
            return nil
        }
        return String(decoding: name.dropLast(suffix.count), as: UTF8.self)
    }
}
