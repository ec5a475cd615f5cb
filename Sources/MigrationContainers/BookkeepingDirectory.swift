internal import Foundation
internal import MigrationContract
package import MigrationSystem

/// The directory `.migration` at a container's root, or beside it in a bundle, with small files about its
/// imports.
///
/// Files are replaced in one step and survive a power loss.
package struct BookkeepingDirectory {
    static let recordName = "import-status.json"
    static let attemptName = "import-attempt.json"
    package static let journalName = "import-journal.json"
    static let lastImportName = "last-import.json"
    static let readingName = "import-status-read.json"
    /// The files about the import that made the data; they move with the data.
    static let namesOfData = [
        recordName, lastImportName, readingName, ContainerIdentity.fileName,
    ]
    /// The files that a process leaves if it dies while it replaces one.
    static let unfinishedNames = [
        recordName, attemptName, journalName, lastImportName, ContainerIdentity.fileName,
    ].map(temporaryName)
    private static let sizeLimit = 1 << 20

    private let directory: OpenFile

    /// Opens the bookkeeping in the container or bundle that is open as `root`; `nil` if there is none.
    package init?(in root: OpenFile) throws(SystemError) {
        do {
            let name = ContainerLayout.bookkeepingName
            directory = OpenFile(try root.descriptor.open(name, .directory))
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
        guard try !directory.descriptor.status().isForeign(to: root.descriptor.status()) else {
            throw .notPermitted
        }
    }

    /// Opens the bookkeeping of a container, and makes it if it is missing.
    ///
    /// The directory and its files belong to the container's owner, whichever user makes them.
    package static func make(in root: OpenFile) throws(SystemError) -> BookkeepingDirectory {
        while true {
            if let existing = try BookkeepingDirectory(in: root) { return existing }
            do {
                let name = ContainerLayout.bookkeepingName
                try root.descriptor.makeDirectory(name, permissions: 0o700)
                try give(OpenFile(root.descriptor.open(name, .directory)), toOwnerOf: root)
                try root.descriptor.synchronize()
            } catch {
                guard error.isExisting else { throw error }
            }
        }
    }

    private static func give(
        _ file: OpenFile,
        toOwnerOf directory: OpenFile
    ) throws(SystemError) {
        do {
            try file.descriptor.adoptOwner(of: directory.descriptor.status())
        } catch {
            // Only root can change the owner.
            guard error.isDenied || error.isUnsupported else { throw error }
        }
    }

    /// Makes the file `name`, which must not exist yet.
    func makeFile(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        let file = OpenFile(try directory.descriptor.open(name, .creating(permissions: 0o600)))
        do {
            try Self.give(file, toOwnerOf: directory)
        } catch {
            // The caller needs this error, not one about cleaning up.
            try? directory.descriptor.removeFile(name)
            throw error
        }
        return file
    }

    /// The path of the bookkeeping of the container at `path`.
    static func path(in path: BytePath) -> BytePath {
        path / ContainerLayout.bookkeepingName
    }

    /// The path of its file `name`.
    static func path(of name: String, in path: BytePath) -> BytePath {
        self.path(in: path) / BytePath(name)
    }

    /// The name of a new version of the file `name` while it is written.
    static func temporaryName(for name: String) -> [UInt8] { [UInt8](utf8: name + ".new") }

    /// The open directory, for data beside the files.
    package var openDirectory: OpenFile { directory }

    /// Whether `name` exists.
    func has(_ name: String) throws(SystemError) -> Bool {
        try directory.descriptor.statusIfPresent(of: [UInt8](utf8: name)) != nil
    }

    /// Moves the file `name` here from `other`, and replaces an existing one.
    func take(_ name: String, from other: BookkeepingDirectory) throws(SystemError) {
        let name = [UInt8](utf8: name)
        try other.directory.descriptor.rename(name, to: name, in: directory.descriptor)
        try directory.descriptor.synchronize()
        try other.directory.descriptor.synchronize()
    }

    /// Something that no import wrote, with the name of a bookkeeping file.
    struct UnsuitableFile: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the file `name`; `nil` if there is none.
    ///
    /// - Throws: ``SystemError``, or ``UnsuitableFile`` if no import wrote the file.
    func read(_ name: String) throws -> Data? {
        do {
            let file = try directory.descriptor.open([UInt8](utf8: name), .reading)
            try check(file.status())
            return try file.readAll(limit: Self.sizeLimit).map { Data($0) } ?? Data()
        } catch let error as SystemError {
            if error.isMissing { return nil }
            guard error.isNotDirectory else { throw error }
            throw UnsuitableFile(description: "it is a symbolic link")
        }
    }

    private func check(_ status: FileStatus) throws {
        guard status.kind == .regular else {
            throw UnsuitableFile(description: "it is \(status.kind.name), not a file")
        }
        guard status.linkCount <= 1 else {
            throw UnsuitableFile(description: "it is a file with several names")
        }
        guard try !status.isForeign(to: directory.descriptor.status()) else {
            throw UnsuitableFile(description: "it belongs to another user")
        }
    }

    /// Replaces the file `name` with `contents`.
    func write(_ contents: Data, as name: String) throws(SystemError) {
        let temporary = Self.temporaryName(for: name)
        try remove(temporary)
        try directory.descriptor.replaceFile(
            [UInt8](utf8: name),
            writing: [UInt8](contents),
            as: temporary
        ) { file throws(SystemError) in try Self.give(file, toOwnerOf: directory) }
    }

    /// Removes the file `name`, if it exists.
    package func remove(_ name: String) throws(SystemError) {
        try remove([UInt8](utf8: name))
    }

    /// Removes `name`, of any kind.
    package func remove(_ name: [UInt8]) throws(SystemError) {
        do {
            // A read-only file system reports itself even for a missing file.
            _ = try directory.descriptor.status(of: name)
            do {
                try directory.descriptor.removeFile(name)
            } catch  where error.isDirectory {
                try directory.descriptor.removeTree(name)
            }
        } catch {
            guard error.isMissing else { throw error }
            return
        }
        try directory.descriptor.synchronize()
    }
}

extension BookkeepingDirectory {
    /// Removes the directory itself from the container's `root` if nothing is in it.
    package func removeIfEmpty(from root: OpenFile) throws(SystemError) {
        do {
            try root.descriptor.removeDirectory(ContainerLayout.bookkeepingName)
        } catch {
            guard error.isNotEmpty || error.isExisting else { throw error }
        }
    }
}

/// The encoding of bookkeeping files: stable keys in a stable order, dates in ISO 8601.
enum BookkeepingCoding {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var value = encoder.singleValueContainer()
            try value.encode(Self.readable(date).formatted(.iso8601))
        }
        return try encoder.encode(value) + Data("\n".utf8)
    }

    /// The date, or the nearest one with a year of four digits: a clock may be set to any date, but
    /// the file must be readable again.
    static func readable(_ date: Date) -> Date {
        // The first second of the year 1 and the last one of the year 9999.
        let known = -62_135_596_800.0...253_402_300_799.0
        let seconds = date.timeIntervalSince1970
        return Date(timeIntervalSince1970: min(max(seconds, known.lowerBound), known.upperBound))
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: data)
    }
}
