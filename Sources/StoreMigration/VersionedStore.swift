public import Foundation
internal import MigrationSystem

/// A store that names the version of its format: a SQLite file, a JSON document or a directory.
///
/// ```swift
/// let store = VersionedStore(at: url, .sqlite(.userVersion))
/// ```
public struct VersionedStore: Sendable {
    /// The kind of a store, and where its version is written.
    public enum Form: Sendable {
        /// A SQLite file, with its write-ahead log if it has one.
        case sqlite(SQLiteVersion)
        /// A JSON document, an object with the version as the text or the number of a key.
        ///
        /// The document, of at most 256 MiB, is read into memory; all bytes except the version stay
        /// the same.
        case json(key: String)
        /// A directory, with the version as the text of a file in it.
        case directory(versionFile: String)
    }

    /// The path of the store.
    public let url: URL

    /// The kind of the store, and where its version is written.
    public let form: Form

    /// The version of a store without a written version, such as one of a first release.
    public let unwrittenVersion: StoreVersion?

    /// Describes a store, which need not exist.
    ///
    /// - Parameters:
    ///   - url: The path of the store; a link to it is followed.
    ///   - form: The kind of the store, and where its version is written.
    ///   - unwrittenVersion: The version of a store without a written version; `nil` if there is no
    ///     such version.
    public init(at url: URL, _ form: Form, unwrittenVersion: StoreVersion? = nil) {
        (self.url, self.form, self.unwrittenVersion) = (url, form, unwrittenVersion)
    }
}

/// Where the version is in a SQLite file.
public struct SQLiteVersion: Sendable {
    enum Source: Sendable {
        case userVersion
        case statements(reading: String, writing: String)
        case coreDataMetadata
    }

    let source: Source

    /// The number that SQLite keeps for the application, `PRAGMA user_version`, which is 0 at first.
    public static let userVersion = SQLiteVersion(source: .userVersion)

    /// The only row of `column` in `table`.
    public static func table(_ table: String, column: String) -> SQLiteVersion {
        let (table, column) = (quoting(table), quoting(column))
        return statements(
            reading: "SELECT \(column) FROM \(table)",
            writing: "UPDATE \(table) SET \(column) = ?1"
        )
    }

    /// The result of a query, which a statement changes to its parameter `?1`.
    ///
    /// - Parameters:
    ///   - query: Returns one row whose first column is the version.
    ///   - statement: Changes one row.
    /// - Returns: The version that the two describe.
    public static func statements(
        reading query: String,
        writing statement: String
    ) -> SQLiteVersion {
        SQLiteVersion(source: .statements(reading: query, writing: statement))
    }

    /// The identifier of the model with which Core Data wrote the store.
    ///
    /// It is never written: a step for such a store must let Core Data migrate it.
    public static let coreDataMetadata = SQLiteVersion(source: .coreDataMetadata)

    private static func quoting(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}

// MARK: - Reading and writing the version

extension VersionedStore {
    /// The version in the store, or else ``unwrittenVersion``; the store isn't changed.
    ///
    /// - Throws: ``StoreMigrationError`` with `missing`, `damaged`, `storeBusy` or `failed`.
    public var version: StoreVersion? {
        get throws(StoreMigrationError) { try version(at: location()) }
    }

    /// The version of the store, or of a copy of it, at `path`.
    func version(at path: BytePath) throws(StoreMigrationError) -> StoreVersion? {
        switch form {
        case .sqlite: return try version(in: .openForReading(at: path), at: path)
        case .json(let key): return try written(VersionedDocument(at: path).version(ofKey: key))
        case .directory(let file):
            return try written(StoreFiles.text(of: path / BytePath(file), store: path))
        }
    }

    /// The version that a database holds.
    func version(
        in database: SQLiteConnection,
        at path: BytePath
    ) throws(StoreMigrationError) -> StoreVersion? {
        guard case .sqlite(let version) = form else { return unwrittenVersion }
        return try written(version.read(from: database, at: path).text)
    }

    private func written(_ text: String?) -> StoreVersion? {
        text.map { StoreVersion($0) } ?? unwrittenVersion
    }

    /// Writes the version into a database.
    func write(
        _ version: StoreVersion,
        to database: SQLiteConnection,
        at path: BytePath
    ) throws(StoreMigrationError) {
        guard case .sqlite(let stored) = form else { return }
        try stored.write(version, to: database, at: path)
    }

    /// Writes the version into a copy of the store that isn't a database.
    func write(_ version: StoreVersion, at path: BytePath) throws(StoreMigrationError) {
        switch form {
        case .sqlite: break
        case .json(let key): try VersionedDocument(at: path).write(version, key: key)
        case .directory(let file):
            try StoreFiles.replace(
                path / BytePath(file),
                with: [UInt8](utf8: version.text + "\n"),
                store: path
            )
        }
    }

    /// Whether the library writes the version after a step.
    var hasWritableVersion: Bool {
        guard case .sqlite(let version) = form, case .coreDataMetadata = version.source else {
            return true
        }
        return false
    }

    /// Whether there is nothing at the store's path.
    var isMissing: Bool {
        get throws(StoreMigrationError) {
            do throws(StoreMigrationError) {
                _ = try location()
                return false
            } catch  where error.code == .missing {
                return true
            }
        }
    }

    /// The name of the store in its directory, with all links resolved.
    func location(isNew: Bool = false) throws(StoreMigrationError) -> BytePath {
        let path = BytePath(of: url)
        do {
            return try isNew ? BytePath(resolving: path) : BytePath(resolvingWhole: path)
        } catch {
            let code: StoreMigrationError.Code = error.isMissing ? .missing : .failed
            let message = error.isMissing ? "there is no store" : "can't reach the store"
            throw StoreMigrationError(code, message, at: url.path, cause: error)
        }
    }
}

extension SQLiteVersion {
    fileprivate func read(
        from database: SQLiteConnection,
        at path: BytePath
    ) throws(StoreMigrationError) -> SQLiteValue {
        switch source {
        case .userVersion:
            return try database.values("PRAGMA user_version").first ?? .null
        case .statements(let query, _):
            let rows = try database.values(query, limit: 2)
            guard rows.count <= 1 else {
                let path = String(decoding: path.bytes, as: UTF8.self)
                throw StoreMigrationError(.damaged, "several rows hold the version", at: path)
            }
            return rows.first ?? .null
        case .coreDataMetadata:
            let identifier = try CoreDataMetadata(in: database, at: path)?.versionIdentifier
            return identifier.map { .text($0) } ?? .null
        }
    }

    fileprivate func write(
        _ version: StoreVersion,
        to database: SQLiteConnection,
        at path: BytePath
    ) throws(StoreMigrationError) {
        let failure = { (message: String) in
            let path = String(decoding: path.bytes, as: UTF8.self)
            return StoreMigrationError(.stepFailed, message, at: path)
        }
        switch source {
        case .userVersion:
            guard let number = Int32(version.text) else {
                throw failure("version '\(version)' is not a whole number, as user_version is")
            }
            try database.execute("PRAGMA user_version = \(number)")
        case .statements(_, let statement):
            let old = try read(from: database, at: path)
            guard let value = Self.value(of: version, like: old) else {
                throw failure("version '\(version)' is not a number, as '\(old.text ?? "")' is")
            }
            guard try database.change(statement, to: value) == 1 else {
                throw failure("writing the version does not change exactly one row")
            }
            let written = try read(from: database, at: path)
            guard written.text == version.text, old == .null || old.isAlike(written) else {
                let text = written.text ?? "NULL"
                throw failure("version '\(version)' is '\(text)' once it is written")
            }
        case .coreDataMetadata:
            throw failure("Core Data did not write version '\(version)'")
        }
    }

    /// The version in the storage class of the previous one; a program may compare the two as
    /// numbers.
    private static func value(of version: StoreVersion, like old: SQLiteValue) -> SQLiteValue? {
        let number = Int64(version.text).flatMap { "\($0)" == version.text ? $0 : nil }
        return switch old {
        case .integer: number.map { .integer($0) }
        case .real: Double(version.text).map { .real($0) }
        case .text: .text(version.text)
        case .blob: .blob([UInt8](version.text.utf8))
        case .null: number.map { .integer($0) } ?? .text(version.text)
        }
    }
}
