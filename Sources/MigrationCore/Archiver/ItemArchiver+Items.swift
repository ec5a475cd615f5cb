internal import MigrationArchive
internal import MigrationSystem

extension ItemArchiver {
    /// Appends the item at `location` under `name`: a file, a link, or a directory with what is in it.
    ///
    /// - Returns: The bytes of content that the item itself has, 0 where it is no file.
    /// - Throws: An error after which the archive is as before only if ``entryCount`` is as before.
    func appendItem(at location: SourceRoots.Location, as name: ByteString) throws -> UInt64 {
        let path = try Self.path(name)
        guard let itemName = location.name.map(ByteString.init) else {
            let status = try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status()
            }
            let root = SourceItem(
                directory: location.directory,
                name: [],
                path: name,
                status: status
            )
            try appendDirectory(root, opened: location.directory, of: location)
            return 0
        }
        let status = try Self.reading(path) { () throws(SystemError) in
            try location.directory.descriptor.status(of: itemName)
        }
        let item = SourceItem(
            directory: location.directory,
            name: itemName,
            path: name,
            status: status
        )
        switch status.kind {
        case .regular, .symbolicLink:
            try append(item)
            return status.kind == .regular ? status.size : 0
        case .directory:
            let directory = location.directory
            if try omitsUnreadable(itemName, in: directory, status, at: name) { return 0 }
            let opened = try Self.reading(path) { () throws(SystemError) in
                OpenFile(try location.directory.descriptor.open(itemName, .directory))
            }
            try appendDirectory(item, opened: opened, of: location)
            return 0
        default:
            throw ArchiveError(
                .unrepresentable,
                "can't be archived: a \(status.kind)",
                entry: path
            )
        }
    }

    /// The path in the archive that whoever appends an item spells as `name`.
    static func path(_ name: ByteString) throws(MigrationError) -> EntryPath {
        let path = EntryPath(bytes: name)
        guard let violation = path.violation else { return path }
        throw MigrationError(.invalidPath, "can't be archived: \(violation)", path: name)
    }

    private func appendDirectory(
        _ item: SourceItem,
        opened: OpenFile,
        of location: SourceRoots.Location
    ) throws {
        let directory = try Self.reading(EntryPath(bytes: item.path)) { () throws(SystemError) in
            try opened.descriptor.duplicate()
        }
        try append(item, directory: opened)
        let isContainer = location.kind == .container && location.name == nil
        let bookkeeping = item.path + [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        let filter = EntryFilter(
            reason: { path, _ in isContainer && path == bookkeeping ? .leftOutByDefault : nil },
            keepsAllFiles: { !isContainer || $0 != item.path }
        )
        try appendContents(of: directory, base: item.path, filter)
    }

    private static func reading<Result: ~Copyable>(
        _ path: EntryPath,
        _ body: () throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        do {
            return try body()
        } catch {
            guard error.isMissing else { throw SourceWalker.unreadable(path.bytes, error) }
            throw ArchiveError(
                .sourceUnreadable,
                "there is no such item",
                entry: path,
                cause: error
            )
        }
    }
}
