package import MigrationArchive
package import MigrationSystem

/// A copy of an app's directory (`/data/data/<package>`), for example from `adb pull` or `run-as`.
///
/// In it, `_external` holds the files on shared storage and `_device` the app's directory in
/// device-protected storage, unless they are given separately.
package struct RawTree: Sendable {
    /// A file or directory that a walk finds.
    package struct Item: Sendable {
        /// The path as on iOS.
        package let path: EntryPath
        package let kind: DataTree.Kind
        package let status: FileStatus
    }

    private struct Part {
        let root: OpenFile
        let start: [[UInt8]]
        let iosPath: EntryPath
        /// Names in the part's root that are separate parts.
        let skipped: Set<[UInt8]>
    }

    /// The number of bytes of a database or preferences that are searched for secrets.
    package static let headSize = 64 * 1024

    /// Directories of an app's storage, by which the storage is recognized.
    static let namesInside = [
        "files", "databases", "shared_prefs", "cache", "no_backup", "code_cache", "_device",
        "_external",
    ]

    private static let externalName = [UInt8]("_external".utf8)
    private static let deviceName = [UInt8]("_device".utf8)
    private static let depthLimit = 1024

    private let parts: [Part]

    /// Opens the directories.
    package init(
        _ directory: BytePath,
        external: BytePath? = nil,
        device: BytePath? = nil
    ) throws(AndroidMigrationError) {
        let root = try Self.open(directory)
        let externalRoot = try external.map { path throws(AndroidMigrationError) in
            try Self.open(path)
        }
        let deviceRoot = try device.map { path throws(AndroidMigrationError) in
            try Self.open(path)
        }
        parts = [
            Part(
                root: root,
                start: [],
                iosPath: StorageDomain.root.iosPath,
                skipped: [Self.externalName, Self.deviceName]
            ),
            Part(
                root: deviceRoot ?? root,
                start: deviceRoot == nil ? [Self.deviceName] : [],
                iosPath: StorageDomain.deviceRoot.iosPath,
                skipped: []
            ),
            Part(
                root: externalRoot ?? root,
                start: externalRoot == nil ? [Self.externalName] : [],
                iosPath: StorageDomain.external.iosPath,
                skipped: []
            ),
        ]
    }

    private static func open(_ path: BytePath) throws(AndroidMigrationError) -> OpenFile {
        let message = "'\(PrintableText.escaping(path))' can't be opened"
        return try AndroidMigrationError.wrapping(.unreadable, message) { () throws(SystemError) in
            OpenFile(try FileDescriptor.openFollowingLinks(path, .directory))
        }
    }

    /// Whether the directory holds any of the names that an app's directory has.
    package var looksLikeAnApp: Bool {
        Self.holdsAppNames(parts[0].root.descriptor) || parts[1].start.isEmpty
            || parts[2].start.isEmpty
    }

    private static func holdsAppNames(_ directory: borrowing FileDescriptor) -> Bool {
        // A name whose status can't be read doesn't show that this is an app's directory.
        for name in namesInside
        where (try? directory.status(of: [UInt8](name.utf8))) != nil {
            return true
        }
        return false
    }

    /// The first directory in this one that looks like an app's.
    var directoryOfApp: [UInt8]? {
        get throws(AndroidMigrationError) {
            let root = parts[0].root
            do throws(SystemError) {
                for name in try DirectoryListing(of: root.descriptor)
                where !name.starts(with: "app_".utf8) {
                    // An item that can't be opened as a directory isn't one, or isn't the app's.
                    guard let directory = try? root.descriptor.open(name, .directory)
                    else { continue }
                    if Self.holdsAppNames(directory) { return name }
                }
                return nil
            } catch {
                throw Self.failure(reading: parts[0].iosPath, cause: error)
            }
        }
    }

    /// Calls `body` for everything in the tree: names in order, directories before their contents.
    ///
    /// `body` gets the open directory that the item is in, and its name there.
    package func walk(
        _ body: (Item, _ directory: OpenFile, _ name: [UInt8]) throws -> Void
    ) throws {
        for part in parts {
            let cursor: DirectoryCursor<OpenFile>
            do throws(SystemError) {
                var start = try part.root.descriptor.duplicate()
                for name in part.start { start = try start.open(name, .directory) }
                cursor = DirectoryCursor(root: OpenFile(start))
            } catch {
                // Both directories are optional.
                if !part.start.isEmpty, error.isMissing { continue }
                throw Self.failure(reading: part.iosPath, cause: error)
            }
            try walk(part, at: cursor, body)
        }
    }

    private func walk(
        _ part: Part,
        at cursor: DirectoryCursor<OpenFile>,
        _ body: (Item, OpenFile, [UInt8]) throws -> Void
    ) throws {
        var pending: [[ArraySlice<UInt8>]] = [[]]
        while let components = pending.popLast() {
            var below: [[ArraySlice<UInt8>]] = []
            let directoryPath = Self.path(in: part.iosPath, names: components)
            do {
                let directory = try cursor.directory(at: components)
                let listing = try DirectoryListing(of: directory.descriptor)
                for (index, name) in listing.enumerated() {
                    if components.isEmpty, part.skipped.contains(name) { continue }
                    let status = try listing.status(at: index, in: directory.descriptor)
                    let item = Item(
                        path: Self.path(in: directoryPath, names: [name[...]]),
                        kind: try Self.kind(of: status, name: name, in: directory),
                        status: status
                    )
                    try body(item, directory, name)
                    if item.kind == .directory { below.append(components + [name[...]]) }
                }
            } catch let error as SystemError {
                throw Self.failure(reading: directoryPath, cause: error)
            }
            guard components.count < Self.depthLimit else {
                let message = "directories lie more than \(Self.depthLimit) deep"
                throw AndroidMigrationError(.unreadable, "'\(directoryPath)': \(message)")
            }
            pending += below.reversed()
        }
    }

    private static func kind(
        of status: FileStatus,
        name: [UInt8],
        in directory: OpenFile
    ) throws(SystemError) -> DataTree.Kind {
        switch status.kind {
        case .regular: .file(size: status.size)
        case .directory: .directory
        case .symbolicLink: .link(target: try directory.descriptor.symbolicLinkTarget(name))
        default: .other
        }
    }

    private static func path(in root: EntryPath, names: [ArraySlice<UInt8>]) -> EntryPath {
        names.reduce(root) { EntryPath(bytes: $0.bytes + [UInt8(ascii: "/")] + $1) }
    }

    private static func failure(reading path: EntryPath, cause error: SystemError)
        -> AndroidMigrationError
    {
        AndroidMigrationError(.unreadable, "'\(path)' can't be read", cause: error)
    }
}

extension DataTree {
    /// Makes the tree of an app's directory.
    package init(_ tree: RawTree, on operation: MigrationOperation) throws {
        self.init()
        try tree.walk { item, directory, name in
            try operation.check()
            var head: [UInt8] = []
            if DeviceBoundSecret.shows(at: item.path), case .file = item.kind {
                let message = "'\(item.path)' can't be read"
                try AndroidMigrationError.wrapping(.unreadable, message) { () throws(SystemError) in
                    let file = try directory.descriptor.open(name, .reading)
                    head = [UInt8](repeating: 0, count: RawTree.headSize)
                    let count = try file.read(at: 0, into: &head, count: head.count)
                    head.removeLast(head.count - count)
                }
            }
            insert(at: item.path, kind: item.kind, head: head)
            try checkSize()
        }
    }
}
