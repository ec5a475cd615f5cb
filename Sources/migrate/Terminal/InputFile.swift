internal import AndroidMigration
internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// A small file that the command line names, such as a key or a rules file.
enum InputFile {
    /// Reads a file or pipe of at most `limit` bytes, which `flag` names, or else an argument.
    ///
    /// - Throws: ``MigrationError`` of code `code`; `CancellationError` if a signal ends the wait for a
    ///   pipe.
    static func read(
        _ path: BytePath,
        of flag: String? = nil,
        limit: Int = 4 << 20,
        failing code: MigrationError.Code = .unreadable
    ) throws -> [UInt8] {
        try NamedFile.read(
            path,
            called: flag.map { "the file of '\($0)'" } ?? "the file",
            failing: code,
            limit: limit,
            cancellation: SignalWatch.interruption
        )
    }

    /// Reads a file of keys, or of a passphrase, without which the command line can't be understood.
    static func readKeys(
        _ path: BytePath,
        of flag: String,
        limit: Int = 1 << 20
    ) throws -> [UInt8] {
        try read(path, of: flag, limit: limit, failing: .invalidOption)
    }
}

extension RulesFile {
    /// Reads a rules file, which a manifest refers to by its name.
    static func read(_ path: BytePath, of flag: String? = nil) throws -> RulesFile {
        var file = try RulesFile(InputFile.read(path, of: flag))
        file.name = name(of: path)
        return file
    }

    /// The name by which a manifest refers to the file at `path`; `nil` if it has another suffix.
    static func name(of path: BytePath) -> String? {
        let suffix = [UInt8](".xml".utf8)
        let name = path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard name.count > suffix.count, name.suffix(suffix.count).elementsEqual(suffix) else {
            return nil
        }
        return String(decoding: name.dropLast(suffix.count), as: UTF8.self)
    }
}

extension AppManifest {
    /// Reads the manifest that `--manifest` names.
    static func read(_ path: BytePath) throws -> AppManifest {
        try AppManifest(InputFile.read(path, of: "--manifest"))
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
        let bytes = Data(try InputFile.read(path, of: "--session", limit: 8 << 20))
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
