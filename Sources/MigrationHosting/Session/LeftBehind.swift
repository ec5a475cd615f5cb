internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// The files in the container and the app groups that an app's extension did not append.
///
/// This is only information, because an extension may have its reasons. With
/// ``ExportOptions/expectsComplete`` it is an error.
public struct LeftBehind: Sendable, Codable, Equatable {
    /// A file or a link that was not appended, or a directory without any appended file.
    public struct Item: Sendable, Equatable {
        /// The app group that holds it; `nil` for the container.
        public let group: String?

        /// The printable path, relative to the container or the group.
        public var path: String { PrintableText.escaping(pathBytes) }

        /// The bytes of the path.
        package let pathBytes: [UInt8]

        /// The number of files and links; 0 for a directory that can't be opened.
        public let files: Int

        /// The bytes of content.
        public let bytes: UInt64

        /// Whether migrations don't need it: it is in `Library/Caches`, `tmp` or `SystemData`.
        public let isPurgeable: Bool
    }

    /// The topmost paths without any appended file, in path order, at most 1,000 of them.
    public private(set) var items: [Item] = []

    /// The number of such paths.
    public private(set) var count = 0

    /// The number of files and links left behind.
    public private(set) var files = 0

    /// The bytes of content left behind.
    public private(set) var bytes: UInt64 = 0

    /// The number of paths that a migration may need, outside of `Library/Caches`, `tmp` and
    /// `SystemData`.
    public private(set) var neededCount = 0
}

extension LeftBehind.Item: Codable {
    private enum CodingKeys: String, CodingKey {
        case bytes, files, group, isPurgeable, path, pathBase64
    }

    /// Encodes the item, its path exactly: as `pathBase64` if it is not valid UTF-8.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(group, forKey: .group)
        try container.encode(ExactName(pathBytes), forKey: .path, or: .pathBase64)
        try container.encode(files, forKey: .files)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(isPurgeable, forKey: .isPurgeable)
    }

    /// Decodes what ``encode(to:)`` encodes.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: The errors of the decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        group = try container.decodeIfPresent(String.self, forKey: .group)
        pathBytes = try container.decodeName(forKey: .path, or: .pathBase64).bytes
        files = try container.decode(Int.self, forKey: .files)
        bytes = try container.decode(UInt64.self, forKey: .bytes)
        isPurgeable = try container.decode(Bool.self, forKey: .isPurgeable)
    }
}

// MARK: - Collecting

extension LeftBehind {
    private static let listed = 1_000

    /// The counts when a directory was entered, to combine all later items into one.
    fileprivate struct Mark {
        let items: Int
        let count: Int
        let neededCount: Int
        let files: Int
        let bytes: UInt64
    }

    fileprivate var mark: Mark {
        Mark(items: items.count, count: count, neededCount: neededCount, files: files, bytes: bytes)
    }

    fileprivate mutating func append(_ item: Item) {
        files += item.files
        bytes.addSaturating(item.bytes)
        add(item)
    }

    /// Replaces all items since `mark` with one item at `path`.
    fileprivate mutating func collapse(
        since mark: Mark,
        to path: [UInt8],
        in group: String?,
        isPurgeable: Bool
    ) {
        items.removeSubrange(mark.items...)
        count = mark.count
        neededCount = mark.neededCount
        add(
            Item(
                group: group,
                pathBytes: path,
                files: files - mark.files,
                bytes: bytes - mark.bytes,
                isPurgeable: isPurgeable
            )
        )
    }

    private mutating func add(_ item: Item) {
        count += 1
        if !item.isPurgeable { neededCount += 1 }
        // Items are only replaced by later ones, so the first ones can be kept.
        if items.count < Self.listed { items.append(item) }
    }

    /// The error of an export that should leave nothing behind; `nil` if it left nothing that is
    /// needed.
    var failure: MigrationError? {
        guard neededCount > 0 else { return nil }
        let needed = items.filter { !$0.isPurgeable }.prefix(3)
        let names = needed.map { item in
            (item.group.map { "\(PrintableText.escaping($0)): " } ?? "") + item.path
        }
        let rest = neededCount > names.count ? " and \(neededCount - names.count) more" : ""
        let message =
            "the extension left something behind: \(names.joined(separator: ", "))\(rest)"
        return MigrationError(.exportIncomplete, message, remedy: .appendLeftBehind)
    }
}

// MARK: - Searching

extension LeftBehind {
    /// Adds the files in `root`, the container or an app group, that are not among the `archived` ones.
    mutating func search(
        _ root: OpenFile,
        of group: String?,
        omitting archived: ItemArchiver,
        on operation: MigrationOperation
    ) throws {
        var search = Search(group: group, archived: archived, found: self)
        try SourceWalker.walk(root, on: operation, visiting: &search)
        self = search.found
    }

    private struct Search: SourceVisitor {
        struct Level {
            let mark: Mark
            let isPurgeable: Bool
            /// Whether a file in it was appended, or differs in kind from the rest.
            var isDivided = false
        }

        private static let purgeable = ["Library/Caches", "tmp", "SystemData"]
            .map { [UInt8](utf8: $0) }

        let group: String?
        let archived: ItemArchiver
        var found: LeftBehind
        var levels: [Level] = []

        mutating func visit(_ item: SourceItem) {
            switch item.status.kind {
            case .regular, .symbolicLink: break
            // An archive can't hold it, and if its directory was appended, it is an omission.
            default: return
            }
            if group == nil, ContainerLayout.ownNames.contains(item.path) { return }
            if archived.isOutput(item.status) { return }
            guard !archived.holds(item.status) else { return divide() }
            let size = item.status.kind == .regular ? item.status.size : 0
            found.append(self.item(at: item.path, files: 1, bytes: size))
        }

        mutating func enter(_ item: SourceItem, opened: OpenFile) -> Bool {
            if group == nil, ContainerLayout.ownNames.contains(item.path) { return false }
            let isPurgeable =
                levels.last?.isPurgeable == true || Self.purgeable.contains(item.path)
            levels.append(Level(mark: found.mark, isPurgeable: isPurgeable))
            return true
        }

        mutating func leave(_ directory: WalkedDirectory) throws {
            try directory.checkIsUnchanged()
            // The root is not an item.
            guard let level = levels.popLast(), found.count > level.mark.count else { return }
            if level.isDivided { return divide() }
            found.collapse(
                since: level.mark,
                to: directory.path,
                in: group,
                isPurgeable: level.isPurgeable
            )
            if level.isPurgeable, levels.last?.isPurgeable == false { divide() }
        }

        mutating func passesOver(_ item: SourceItem) -> Bool {
            found.append(self.item(at: item.path, files: 0, bytes: 0))
            return true
        }

        private mutating func divide() {
            guard !levels.isEmpty else { return }
            levels[levels.count - 1].isDivided = true
        }

        private func item(at path: [UInt8], files: Int, bytes: UInt64) -> Item {
            Item(
                group: group,
                pathBytes: path,
                files: files,
                bytes: bytes,
                isPurgeable: levels.last?.isPurgeable ?? Self.purgeable.contains(path)
            )
        }
    }
}
