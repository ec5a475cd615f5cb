internal import MigrationArchive
internal import MigrationSystem
internal import PropertyLists

/// The directory of a backup, which is never written to.
struct BackupDirectory {
    private enum Name {
        static let properties = [UInt8](utf8: "Manifest.plist")
        static let database = [UInt8](utf8: "Manifest.db")
        static let list = [UInt8](utf8: "Manifest.mbdb")
        static let log = [UInt8](utf8: "Manifest.db-wal")
    }

    /// Lists of installed apps include their icons.
    private static let listLimit: UInt64 = 64 << 20
    private static let listLimits = PropertyListLimits(values: 200_000)

    /// The path of the backup, which may be below the one that a person named.
    let path: BytePath
    private let directory: OpenFile
    /// Whether the manifest is a database.
    ///
    /// If so, stored files are in directories named after the first two digits of the files' names.
    private let hasDatabase: Bool

    /// Opens the backup at `path`, or the only one in the directory there.
    ///
    /// - Throws: ``ArchiveError`` of codes `notAnArchive` and `sourceUnreadable`.
    init(_ path: BytePath) throws(ArchiveError) {
        let found: (OpenFile, [[UInt8]]?)
        do throws(SystemError) {
            let given = OpenFile(try FileDescriptor.openFollowingLinks(path, .directory))
            found = (given, try Self.isBackup(given) ? nil : Self.backups(in: given))
        } catch {
            throw Self.failure(error, at: path)
        }
        if let names = found.1, names.count != 1 { throw Self.notABackup(holding: names) }
        let name = found.1?.first
        self.path = name.map { path / $0 } ?? path
        do throws(SystemError) {
            directory =
                if let name { OpenFile(try found.0.descriptor.open(name, .directory)) } else {
                    found.0
                }
            let database = try directory.descriptor.statusIfPresent(of: Name.database)
            hasDatabase = database.map { $0.size > 0 } ?? false
        } catch {
            throw Self.failure(error, at: self.path)
        }
    }

    private static func failure(_ error: SystemError, at path: BytePath) -> ArchiveError {
        if error.isNotDirectory {
            return ArchiveError(.notAnArchive, "not an iPhone backup: it isn't a directory")
        }
        let message = "the backup can't be read: \(PrintableText.escaping(path))"
        return ArchiveError(.sourceUnreadable, message, cause: error)
    }

    private static func notABackup(holding names: [[UInt8]]) -> ArchiveError {
        guard !names.isEmpty else {
            let message =
                "not an iPhone backup: neither it nor a directory in it holds a Manifest.plist"
            return ArchiveError(.notAnArchive, message)
        }
        let list = names.prefix(10).map { PrintableText.escaping($0) }.joined(separator: ", ")
        let message = "it holds \(names.count) backups, and one has to be named: \(list)"
        return ArchiveError(.notAnArchive, message)
    }

    private static func isBackup(_ directory: OpenFile) throws(SystemError) -> Bool {
        try directory.descriptor.statusIfPresent(of: Name.properties)?.kind == .regular
    }

    private static func backups(in directory: OpenFile) throws(SystemError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for name in try DirectoryListing(of: directory.descriptor) where names.count < 100 {
            // An item that can't be opened as a directory isn't a readable backup.
            guard let child = try? directory.descriptor.open(name, .directory),
                try isBackup(OpenFile(child))
            else { continue }
            names.append(name)
        }
        return names
    }

    // MARK: - Property lists

    /// Keys whose values may take megabytes and aren't needed.
    private static let largeKeys: Set = [
        "PlaceholderIcon", "ApplicationSINF", "iTunes Files", "iTunes Settings",
    ]

    /// Reads a property list of the backup.
    ///
    /// - Returns: The list; `nil` if there is none, or only an empty file, which copies and crashes
    ///   may leave.
    /// - Throws: ``ArchiveError`` of code `damaged`.
    func propertyList(_ name: String) throws(ArchiveError) -> PropertyListValue? {
        do {
            let file = try directory.descriptor.open([UInt8](name.utf8), .reading)
            let status = try file.status()
            guard status.kind == .regular, status.size <= Self.listLimit else {
                throw PropertyListError("it takes over 64 MiB, or isn't a file")
            }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var offset: UInt64 = 0
            return try PropertyListValue.read(
                limits: Self.listLimits,
                leavingOut: Self.largeKeys
            ) {
                let count = try file.read(at: offset, into: &buffer, count: buffer.count)
                offset += UInt64(count)
                guard offset <= Self.listLimit else { throw PropertyListError("it grows") }
                return buffer[..<count]
            }
        } catch let error as SystemError where error.isMissing {
            return nil
        } catch let error as SystemError {
            throw ArchiveError(.damaged, "the backup's \(name) can't be read", cause: error)
        } catch {
            throw ArchiveError(.damaged, "the backup's \(name) can't be read: \(error)")
        }
    }

    // MARK: - Manifest

    enum StoredManifest {
        case database(OpenFile)
        case list(OpenFile)
    }

    /// Opens the manifest in whichever form exists.
    ///
    /// - Throws: ``ArchiveError`` of code `truncated` if there is none.
    func openManifest() throws(ArchiveError) -> StoredManifest {
        let file: OpenFile
        let kind: FileStatus.Kind
        do throws(SystemError) {
            let name = hasDatabase ? Name.database : Name.list
            file = OpenFile(try directory.descriptor.open(name, .reading))
            kind = try file.descriptor.status().kind
        } catch {
            guard error.isMissing else { throw Self.failure(error, at: path) }
            let message =
                "the backup was never finished: it holds no manifest of its files; make it anew"
            throw ArchiveError(.truncated, message)
        }
        guard kind == .regular else {
            throw ArchiveError(.damaged, "the backup's manifest isn't a file")
        }
        return hasDatabase ? .database(file) : .list(file)
    }

    /// Whether there is a log of the manifest, which isn't read.
    var hasLog: Bool {
        // If the log's status can't be read, the log can't be read either.
        guard let log = try? directory.descriptor.statusIfPresent(of: Name.log) else {
            return false
        }
        return log.size > 0
    }

    // MARK: - Stored files

    /// Opens the stored file with that name, a hash in hex; it may be anything, not only a regular
    /// file.
    func open(_ identifier: [UInt8]) throws(SystemError) -> FileDescriptor {
        guard hasDatabase else { return try directory.descriptor.open(identifier, .reading) }
        let group = try directory.descriptor.open([UInt8](identifier.prefix(2)), .directory)
        return try group.open(identifier, .reading)
    }
}
