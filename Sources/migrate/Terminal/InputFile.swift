internal import AndroidMigration
internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// A small file given on the command line, such as a rules file; a signal ends the wait for it.
enum InputFile {
    /// Reads a file or pipe of at most `limit` bytes.
    static func read(_ path: BytePath, limit: Int = 4 << 20) throws -> [UInt8] {
        let name = PrintableText.escaping(path)
        do {
            if let bytes = try SmallFile.read(
                path,
                limit: limit,
                cancellation: SignalWatch.interruption
            ) {
                return bytes
            }
        } catch let error as SystemError {
            throw AndroidMigrationError(.unreadable, "'\(name)' can't be read", cause: error)
        }
        throw AndroidMigrationError(.unreadable, "'\(name)' is larger than \(limit) bytes")
    }
}

extension RulesFile {
    /// Reads a rules file, which a manifest refers to by its name.
    static func read(_ path: BytePath) throws -> RulesFile {
        var file = try RulesFile(InputFile.read(path))
        file.name = name(of: path)
        return file
    }

    /// The name by which a manifest refers to the file at `path`; `nil` if its suffix is another
    /// one.
    static func name(of path: BytePath) -> String? {
        let suffix = [UInt8](".xml".utf8)
        let name = path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard name.count > suffix.count, name.suffix(suffix.count).elementsEqual(suffix) else {
            return nil
        }
        return String(decoding: name.dropLast(suffix.count), as: UTF8.self)
    }
}

extension SessionLog {
    /// The members of the document that identify it.
    private struct Head: Decodable {
        let schema: String
    }

    /// Reads the log that `--session-log` wrote into the file at `path`.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` if the file holds something else.
    static func read(_ path: BytePath) throws -> SessionLog {
        let bytes = Data(try InputFile.read(path, limit: 8 << 20))
        do {
            let head = try JSONDecoder().decode(Head.self, from: bytes)
            guard head.schema == schema else {
                let name = PrintableText.escaping(head.schema)
                let message = "not the log of a session but '\(name)'"
                throw MigrationError(.invalidOption, message, path: path)
            }
            return try JSONDecoder().decode(SessionLog.self, from: bytes)
        } catch is DecodingError {
            let message = "not the log of a session, as '--session-log' writes it"
            throw MigrationError(.invalidOption, message, path: path)
        }
    }
}
