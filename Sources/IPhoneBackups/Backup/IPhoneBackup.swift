package import MigrationArchive
package import MigrationSystem
internal import PropertyLists

/// A backup of an iPhone or iPad on disk, made by Finder, iTunes, Apple Devices or
/// `idevicebackup2`.
package final class IPhoneBackup {
    /// How a backup is opened.
    package struct Options {
        /// Asks for the password, which is called once if the backup is encrypted; `nil` if there is none.
        package var password: () throws -> Secret? = { nil }
        /// Whether to read a backup that the device did not finish.
        package var allowsUnfinished = false
        /// Called before a key is derived, which takes seconds.
        package var onDerivingKey: () -> Void = {}

        package init() {}
    }

    let directory: BackupDirectory
    let manifest: Manifest
    private let keys: [UInt32: Secret]
    /// Whether the stored files are encrypted.
    ///
    /// In a copy that another program decrypted they aren't, although the lists still claim it.
    private let filesAreEncrypted: Bool
    private let apps: AppLists

    /// Remarks on the backup for a person.
    package private(set) var warnings: [String] = []

    /// The path of the backup, which may be below the one that was named.
    package var path: BytePath { directory.path }

    /// Opens the backup at `path`, or the only one in the directory there.
    ///
    /// Nothing is written to it.
    ///
    /// - Throws: ``ArchiveError``: `notAnArchive` if it isn't a backup, `truncated` if it is unfinished,
    ///   `keyMissing` and `passphraseWrong` if it is encrypted, `damaged` and `sourceUnreadable`;
    ///   `CancellationError`.
    package init(
        at path: BytePath,
        options: Options = Options(),
        on operation: MigrationOperation
    ) throws {
        directory = try BackupDirectory(path)
        let properties = try directory.propertyList("Manifest.plist")
        var lists = AppLists(manifest: properties)
        var remarks: [String] = []
        if let info = Self.optional("Info.plist", in: directory, &remarks) { lists.add(info: info) }
        apps = lists
        let status = Self.optional("Status.plist", in: directory, &remarks)
        if let state = status?["SnapshotState"]?.string, state != "finished" {
            guard options.allowsUnfinished else { throw Self.unfinished(state) }
            remarks.append("the backup is unfinished")
        }
        if directory.hasLog {
            remarks.append("Manifest.db-wal isn't read: what it says of newer files is not known")
        }
        warnings = remarks
        let stored = StoredKeys(properties, options: options)
        switch try directory.openManifest() {
        case .list(let file):
            filesAreEncrypted = stored.isEncrypted
            keys = try filesAreEncrypted ? stored.open().keys : [:]
            manifest = .list(try ManifestList(file, on: operation))
        case .database(let file):
            let isPlain = try Self.isDatabase(file)
            let manifestKey = try stored.manifestKey()
            filesAreEncrypted = isPlain ? stored.isEncrypted && manifestKey == nil : true
            let opened = try filesAreEncrypted ? stored.open() : nil
            keys = opened?.keys ?? [:]
            let key = isPlain ? nil : try Self.open(manifestKey, with: keys)
            let database = try ManifestDatabase(ManifestFile(file, key: key), on: operation)
            if let password = opened?.password, isPlain, let salt = try database.salt() {
                try database.open(with: password, salt: salt)
            }
            manifest = .database(database)
        }
    }

    private static func open(
        _ manifestKey: WrappedKey?,
        with keys: [UInt32: Secret]
    ) throws(ArchiveError) -> Secret {
        guard let manifestKey else {
            let message =
                "the backup's Manifest.db isn't a database; it looks encrypted, but "
                + "Manifest.plist holds no key for it"
            throw ArchiveError(.damaged, message)
        }
        guard let key = manifestKey.open(with: keys) else {
            let message = "the key of the backup's Manifest.db can't be opened"
            throw ArchiveError(.damaged, message)
        }
        return key
    }

    private static func isDatabase(
        _ file: OpenFile
    ) throws(ArchiveError) -> Bool {
        var start = [UInt8](repeating: 0, count: ManifestFile.magic.count)
        do {
            let count = try file.descriptor.read(at: 0, into: &start, count: start.count)
            return count == start.count && start == ManifestFile.magic
        } catch {
            throw ArchiveError(.sourceUnreadable, "the backup can't be read", cause: error)
        }
    }

    /// Reads a list that isn't needed to use a backup, and that copies often lack.
    private static func optional(
        _ name: String,
        in directory: BackupDirectory,
        _ warnings: inout [String]
    ) -> PropertyListValue? {
        do {
            if let list = try directory.propertyList(name) { return list }
            warnings.append("the backup has no \(name)")
        } catch {
            warnings.append(error.description)
        }
        return nil
    }

    private static func unfinished(_ state: String) -> ArchiveError {
        let text = PrintableText.escaping(state)
        let message = "the backup is unfinished: Status.plist says '\(text)'; make it anew"
        return ArchiveError(.truncated, message)
    }

    // MARK: - Files

    /// Opens the stored content of a file.
    func content(of record: FileRecord, in domain: Domain) throws(FlawedRecord) -> StoredFile {
        let file: FileDescriptor
        do {
            let name = FileRecord.identifier(of: record.path, in: domain.bytes)
            file = try directory.open(name)
        } catch {
            if error.isMissing { throw FlawedRecord("the backup doesn't hold its content") }
            throw FlawedRecord("its content can't be opened: \(error)")
        }
        var key: Secret?
        if filesAreEncrypted, let wrapped = record.key {
            key = wrapped.open(with: keys)
            guard key != nil else {
                throw FlawedRecord(
                    "its key, of protection class \(wrapped.protectionClass), can't be opened"
                )
            }
        }
        let content = try StoredFile(of: record, from: file, key: key)
        if filesAreEncrypted, record.key == nil, content.size > 0 {
            throw FlawedRecord("its row has no key")
        }
        return content
    }

    // MARK: - Apps

    /// Lists the apps, groups and plugins in the backup.
    package func contents() throws -> BackupContents {
        var contents = BackupContents(apps)
        try manifest.forEachRow { row in
            guard let domain = Domain(row.domain) else { return }
            try contents.add(row, in: domain)
        }
        return contents
    }

    /// The version of an app in the backup's lists.
    func version(of app: String) -> String? {
        apps[app]?.version
    }
}

/// The keybag and the wrapped key of an encrypted backup.
private struct StoredKeys {
    let isEncrypted: Bool
    private let keybag: [UInt8]?
    private let wrappedManifestKey: [UInt8]?
    private let options: IPhoneBackup.Options

    init(_ properties: PropertyListValue?, options: IPhoneBackup.Options) {
        isEncrypted = properties?["IsEncrypted"]?.boolean ?? false
        keybag = properties?["BackupKeyBag"]?.data
        wrappedManifestKey = properties?["ManifestKey"]?.data
        self.options = options
    }

    func manifestKey() throws(ArchiveError) -> WrappedKey? {
        guard let wrappedManifestKey else { return nil }
        guard let key = WrappedKey(wrappedManifestKey) else {
            let message = "the key of the backup's Manifest.db is damaged"
            throw ArchiveError(.damaged, message)
        }
        return key
    }

    /// Opens the keybag with the password.
    func open() throws -> (keys: [UInt32: Secret], password: Secret) {
        guard let keybag else {
            throw ArchiveError(.damaged, "the backup is encrypted, and holds no keybag")
        }
        let bag = try Keybag(keybag)
        guard let password = try options.password() else {
            throw ArchiveError(.keyMissing, "the backup is encrypted, and its password is missing")
        }
        options.onDerivingKey()
        return (try bag.open(with: password), password)
    }
}
