package import MigrationContract
package import MigrationSystem

/// The directories that an extension may export from, held open so that they can't be replaced.
package struct SourceRoots {
    package enum Kind {
        case container
        case applicationGroup
        case temporaryDirectory
        case grantedResource
    }

    /// An item in an open directory.
    package struct Location {
        let root: Root
        package let directory: OpenFile
        /// The name in the directory; `nil` for the root itself.
        package let name: ArraySlice<UInt8>?
        /// The path beneath the root's directory; empty for that directory itself.
        package let path: [UInt8]

        package var kind: Kind { root.kind }
    }

    /// A directory, or a granted file, that an extension may export.
    struct Root {
        let kind: Kind
        let path: BytePath
        /// The directory; for a granted file, the one that contains it.
        let directory: OpenFile
        let identity: FileStatus.Identity
        let isFile: Bool

        /// The path of `item` from the root.
        fileprivate func relativePath(of item: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            item.dropFirst(path.bytes.count).drop { $0 == UInt8(ascii: "/") }
        }
    }

    private var roots: [Root] = []
    /// Other paths by which an extension knows directories.
    private var aliases: [(path: BytePath, directory: BytePath)] = []
    /// The identity of the container's bookkeeping, which is never exported, by whatever path.
    private var bookkeeping: FileStatus.Identity?
    /// The directory of the last item, because the next item is usually there too.
    private var last: (path: ArraySlice<UInt8>, directory: OpenFile)?

    package init() {}

    /// Adds the directory at `path`, an absolute path without links; a granted resource may be a file.
    package mutating func add(_ path: BytePath, _ kind: Kind) throws(SystemError) {
        var isFile = false
        if kind == .grantedResource {
            isFile = try FileDescriptor.status(atPath: path).kind != .directory
        }
        let place = isFile ? path.parent : path
        let directory = OpenFile(try FileDescriptor.open(place, .directory))
        roots.append(
            Root(
                kind: kind,
                path: path,
                directory: directory,
                identity: try directory.descriptor.status().identity,
                isFile: isFile
            )
        )
        guard kind == .container else { return }
        let name = ContainerLayout.bookkeepingName
        bookkeeping = try directory.descriptor.statusIfPresent(of: name)?.identity
    }

    /// Makes `alias` another name of `path`, which contains no links.
    package mutating func addAlias(_ alias: BytePath, of path: BytePath) {
        aliases.append((alias, path))
    }

    /// The directories whose URLs an extension has, by every path that leads to them.
    package var baseDirectories: [BytePath] {
        let own = roots.filter { !$0.isFile }.flatMap { root in
            let inner: [BytePath] = ["Documents", "Library/Application Support"]
            return [root.path] + (root.kind == .container ? inner : []).map { root.path / $0 }
        }
        return own.flatMap { base in
            aliases.compactMap { base.moved(from: $0.directory, to: $0.path) } + [base]
        }
    }

    /// Finds the item at `path` without following a link out of its root.
    ///
    /// - Throws: ``MigrationError`` of code `outsideContainer` if it is in no root or its path
    ///   leads out, and of code `invalidPath` if it doesn't exist.
    package mutating func locate(_ path: BytePath) throws(MigrationError) -> Location {
        let moved = aliases.lazy.compactMap { path.moved(from: $0.path, to: $0.directory) }
        let path = moved.first ?? path
        let item = try Self.trimmed(path)
        guard let root = roots.first(where: { item.isEqual(toOrBelow: $0.path) }) else {
            throw Self.outside(path)
        }
        if item == root.path {
            let name = root.isFile ? item.lastComponent : nil
            let directory = root.directory
            return Location(root: root, directory: directory, name: name?[...], path: name ?? [])
        }
        guard !root.isFile else {
            throw MigrationError(.invalidPath, "can't be reached", path: path)
        }
        let slash = item.bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
        let name = item.bytes[(slash + 1)...]
        let parent = item.bytes[..<slash]
        let directory = try directory(at: parent, holding: name, in: root, for: path)
        let relative = [UInt8](root.relativePath(of: item.bytes[...]))
        return Location(root: root, directory: directory, name: name, path: relative)
    }

    /// Opens the directory at `parent`, from which `name` may be exported.
    private mutating func directory(
        at parent: ArraySlice<UInt8>,
        holding name: ArraySlice<UInt8>,
        in root: Root,
        for path: BytePath
    ) throws(MigrationError) -> OpenFile {
        if let last, last.path.span.isEqual(to: parent.span) { return last.directory }
        let directory = try Self.open(root.relativePath(of: parent), in: root, for: path)
        let isRefused = try Self.reaching(path) { () throws(SystemError) in
            try isBookkeeping(name, in: directory, beneath: root)
        }
        guard !isRefused else {
            let message = "is the container's bookkeeping, which is never exported"
            throw MigrationError(.outsideContainer, message, path: path)
        }
        // Outside the container, the extension could replace the directory. In the container's
        // root, a name could be that of the bookkeeping.
        if root.kind == .container, directory !== root.directory {
            last = (parent, directory)
        }
        return directory
    }

    /// Opens the directory at `relative` in `root`; returns that of `root` itself if this is empty.
    private static func open(
        _ relative: ArraySlice<UInt8>,
        in root: Root,
        for path: BytePath
    ) throws(MigrationError) -> OpenFile {
        if relative.isEmpty { return root.directory }
        let relative = BytePath(relative)
        return try reaching(path) { () throws(SystemError) in
            let opened = OpenFile(try root.directory.descriptor.openDirectoryBeneath(relative))
            // Dots and links may lead back to the root.
            let isRoot = try opened.descriptor.status().identity == root.identity
            return isRoot ? root.directory : opened
        }
    }

    private static func reaching<Result>(
        _ path: BytePath,
        _ body: () throws(SystemError) -> Result
    ) throws(MigrationError) -> Result {
        do {
            return try body()
        } catch {
            if error.isCrossDevice { throw outside(path) }
            throw MigrationError(.invalidPath, "can't be reached", path: path, cause: error)
        }
    }

    private static func trimmed(_ path: BytePath) throws(MigrationError) -> BytePath {
        let name = path.lastComponent
        let isDots = (1...2).contains(name.count) && name.allSatisfy { $0 == UInt8(ascii: ".") }
        guard path.isAbsolute, !isDots, !path.bytes.contains(0) else {
            throw MigrationError(.invalidPath, "is not an absolute path of an item", path: path)
        }
        return path.trimmed
    }

    private static func outside(_ path: BytePath) -> MigrationError {
        let message = "lies outside the directories that the extension may export"
        return MigrationError(.outsideContainer, message, path: path)
    }
}

// MARK: - The container's bookkeeping

// The bookkeeping is recognized by identity, because links, dots and a file system that folds case
// can give it many paths.
extension SourceRoots {
    /// Whether `name` in a root is the bookkeeping; another `directory` may be the bookkeeping or in it, according
    /// to its parents.
    private func isBookkeeping(
        _ name: ArraySlice<UInt8>,
        in directory: OpenFile,
        beneath root: Root
    ) throws(SystemError) -> Bool {
        guard let bookkeeping else { return false }
        if directory === root.directory {
            return try directory.descriptor.statusIfPresent(of: name)?.identity == bookkeeping
        }
        var path = [UInt8](utf8: ".")
        var identity = try directory.descriptor.status().identity
        while identity != root.identity {
            if identity == bookkeeping { return true }
            path += [UInt8](utf8: "/..")
            let above = try directory.descriptor.status(of: path).identity
            // The search reaches the top if the directory is moved out of the root.
            if above == identity { break }
            identity = above
        }
        return false
    }
}
