internal import MigrationSystem

/// The places that an extension may export from, held open so that nobody can put others in their stead.
struct SourceRoots {
    enum Kind {
        case container
        case applicationGroup
        case temporaryDirectory
    }

    /// An item, by the open directory that holds it.
    struct Location {
        let kind: Kind
        let directory: OpenFile
        /// The name in the directory; `nil` where the item is the root itself.
        let name: ArraySlice<UInt8>?
    }

    private struct Root {
        let kind: Kind
        let path: ByteString
        let directory: OpenFile
    }

    private var roots: [Root] = []
    /// The directory of the last item, since the next one mostly lies there too.
    private var last: (path: ArraySlice<UInt8>, kind: Kind, directory: OpenFile)?

    /// Adds the directory at `path`, an absolute path with no link in it.
    mutating func add(_ path: ByteString, _ kind: Kind) throws(SystemError) {
        let directory = OpenFile(try FileDescriptor.open(path, .directory))
        roots.append(Root(kind: kind, path: path, directory: directory))
    }

    /// Finds the item at `path` without following a link out of the root that it lies in.
    ///
    /// - Throws: ``MigrationError`` of code `outsideContainer` where it lies in none, or the way there
    ///   leads out; `invalidPath` where nothing is there.
    mutating func locate(_ path: ByteString) throws(MigrationError) -> Location {
        let item = try Self.withoutSlashAtEnd(path)
        guard let root = roots.first(where: { Self.lies(item, in: $0.path) }) else {
            throw Self.outside(path)
        }
        if item.count == root.path.count {
            return Location(kind: root.kind, directory: root.directory, name: nil)
        }
        let slash = item.lastIndex(of: UInt8(ascii: "/")) ?? 0
        let name = item[(slash + 1)...]
        let parent = item[..<slash]
        if let last, last.path.span.isEqual(to: parent.span) {
            return Location(kind: last.kind, directory: last.directory, name: name)
        }
        guard !ContainerLayout.isBookkeeping(item.dropFirst(root.path.count + 1), root.kind) else {
            let message = "is the container's bookkeeping, which no export carries"
            throw MigrationError(.outsideContainer, message, path: path)
        }
        let directory = try Self.open(ByteString(parent), in: root, for: path)
        // Elsewhere the extension may put another directory in its place, and the container's own
        // has a name that none may export.
        if root.kind == .container, parent.count > root.path.count {
            last = (parent, root.kind, directory)
        }
        return Location(kind: root.kind, directory: directory, name: name)
    }

    private static func open(
        _ parent: ByteString,
        in root: Root,
        for path: ByteString
    ) throws(MigrationError) -> OpenFile {
        if parent.count == root.path.count { return root.directory }
        do {
            let relative = ByteString(parent[(root.path.count + 1)...])
            return OpenFile(try root.directory.descriptor.openDirectoryBeneath(relative))
        } catch {
            if error.isCrossDevice { throw outside(path) }
            throw MigrationError(.invalidPath, "can't be reached", path: path, cause: error)
        }
    }

    private static func withoutSlashAtEnd(
        _ path: ByteString
    ) throws(MigrationError) -> ArraySlice<UInt8> {
        let slash = UInt8(ascii: "/")
        var item = path[...]
        while item.count > 1, item.last == slash { item = item.dropLast() }
        let name = item[(item.lastIndex(of: slash).map { $0 + 1 } ?? item.startIndex)...]
        let isDots = (1...2).contains(name.count) && name.allSatisfy { $0 == UInt8(ascii: ".") }
        guard item.first == slash, !isDots, !path.contains(0) else {
            throw MigrationError(.invalidPath, "is no absolute path of an item", path: path)
        }
        return item
    }

    private static func lies(_ item: ArraySlice<UInt8>, in root: ByteString) -> Bool {
        let start = item.prefix(root.count)
        guard start.span.isEqual(to: root.span) else { return false }
        return item.count == root.count || item[root.count] == UInt8(ascii: "/")
    }

    private static func outside(_ path: ByteString) -> MigrationError {
        let message = "lies outside of what the extension may export"
        return MigrationError(.outsideContainer, message, path: path)
    }
}

extension ContainerLayout {
    /// Whether `path`, relative to its root, is the bookkeeping of a container or lies in it.
    fileprivate static func isBookkeeping(
        _ path: ArraySlice<UInt8>,
        _ kind: SourceRoots.Kind
    ) -> Bool {
        guard kind == .container, path.starts(with: bookkeepingName) else { return false }
        let rest = path.dropFirst(bookkeepingName.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }
}
