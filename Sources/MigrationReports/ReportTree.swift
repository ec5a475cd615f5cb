package import MigrationArchive
package import MigrationCore
internal import MigrationSystem

/// The largest parts of a tree of any number of files.
///
/// Entries come in any order. Memory is bounded: only the largest files are kept by name, and
/// directories beyond a limit of number or depth count for their parent.
package struct ReportTree {
    /// The maximum number of nodes on a page.
    static let nodeLimit = 5000

    private static let directoryLimit = 40_000
    /// The deepest level that a page shows; writing it takes time quadratic in the depth.
    private static let depthLimit = 64
    private static let typeLimit = 500
    private static let differenceLimit = 2000

    /// A directory's facts; its files are all those below it.
    private struct Directory {
        var bytes: UInt64 = 0
        var files: UInt64 = 0
        var differences = 0
        /// How many of the files are not moved.
        var omitted: UInt64 = 0
        /// Why migrations don't move it, if they don't.
        var state: ReportState?
    }

    private struct File {
        /// The path in words, shortened if it is very long.
        let path: EntryPath
        let name: [UInt8]
        /// The hash of the whole path.
        let hash: Int
        let bytes: UInt64
        let directory: Int32
        let state: ReportState?
    }

    private var names = NameTree()
    private var directories = [Directory()]
    /// The largest files, as a heap with the smallest first.
    private var largest: [File] = []
    private var types: [String: ReportAmount] = [:]

    /// The first differences in words, shortened if they are very long.
    private(set) var differences: [(path: EntryPath, text: String)] = []
    /// How many differences there are.
    private(set) var differenceCount = 0
    /// Their states, by the hashes of their paths.
    private var differing: [Int: ReportState] = [:]

    package init() {}

    /// Counts an entry; `state` says why it isn't moved.
    package mutating func add(_ entry: ArchiveEntry, state: ReportState? = nil) {
        switch entry.kind {
        case .file(let size): add(entry.path, bytes: size, state: state)
        case .directory:
            let directory = directory(at: entry.path.bytes[...])
            if names.name(of: directory) == [UInt8](entry.path.lastComponent) {
                directories[Int(directory)].state = state
            }
        default: return
        }
    }

    /// Counts a file or directory that is not moved, only by its name.
    package mutating func add(_ path: [UInt8], bytes: UInt64, as state: ReportState) {
        guard !path.isEmpty else { return }
        add(EntryPath(bytes: path), bytes: bytes, state: state)
    }

    /// Notes a difference; call it before the entries are added.
    package mutating func note(_ difference: ArchiveDifference, as text: String) {
        differenceCount += 1
        let state: ReportState =
            difference.kind == .onlyInArchive
            ? .missing : difference.kind == .onlyInContainer ? .added : .different
        if differences.count < Self.differenceLimit {
            let path = EntryPath(bytes: BoundedText.path(difference.path.bytes))
            differences.append((path, BoundedText.detail(text)))
            differing[difference.path.levelHash] = state
        }
        change(directory(at: NameTree.parent(of: difference.path))) { $0.differences += 1 }
    }

    private mutating func add(_ path: EntryPath, bytes: UInt64, state: ReportState?) {
        let holder = directory(at: NameTree.parent(of: path))
        change(holder) { directory in
            directory.bytes.addSaturating(bytes)
            directory.files += 1
            if state != nil { directory.omitted += 1 }
        }
        if state == nil {
            let type = ReportType.name(of: path)
            let isShown = types[type] != nil || types.count < Self.typeLimit
            types[isShown ? type : ReportType.restName, default: ReportAmount()].add(bytes)
        }
        keep(
            File(
                path: EntryPath(bytes: BoundedText.path(path.bytes)),
                name: [UInt8](path.lastComponent),
                hash: path.levelHash,
                bytes: bytes,
                directory: holder,
                state: state
            )
        )
    }

    private mutating func directory(at path: ArraySlice<UInt8>) -> Int32 {
        let node = names.directory(at: path, limit: Self.directoryLimit, depth: Self.depthLimit)
        while directories.count < names.count { directories.append(Directory()) }
        return node
    }

    /// Changes the facts of a directory and of all above it.
    private mutating func change(_ directory: Int32, _ body: (inout Directory) -> Void) {
        var place: Int32? = directory
        while let directory = place {
            body(&directories[Int(directory)])
            place = names.parent(of: directory)
        }
    }
}

// MARK: - The largest files

extension ReportTree {
    private mutating func keep(_ file: File) {
        guard largest.count == Self.nodeLimit else {
            largest.append(file)
            rise(from: largest.count - 1)
            return
        }
        guard file.bytes > largest[0].bytes else { return }
        largest[0] = file
        sink(from: 0)
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0, largest[place].bytes < largest[(place - 1) / 2].bytes {
            largest.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            let children = [2 * place + 1, 2 * place + 2].filter { $0 < largest.count }
            guard let least = children.min(by: { largest[$0].bytes < largest[$1].bytes }),
                largest[least].bytes < largest[place].bytes
            else { return }
            largest.swapAt(place, least)
            place = least
        }
    }

    /// The largest files that are moved, the largest first.
    var largestFiles: [(path: EntryPath, bytes: UInt64)] {
        largest.filter { $0.state == nil }.sorted { ($0.bytes, $1.path) > ($1.bytes, $0.path) }
            .map { ($0.path, $0.bytes) }
    }

    /// Amounts of moved data by type, the largest first.
    var amountsByType: [(type: String, amount: ReportAmount)] {
        types.sorted { ($0.value.bytes, $1.key) > ($1.value.bytes, $0.key) }
            .map { ($0.key, $0.value) }
    }
}

// MARK: - The nodes of a page

extension ReportTree {
    /// The largest directories and files as one tree; each directory counts the files that aren't
    /// shown.
    func nodes() -> ReportNode {
        let shown = shownDirectories()
        let room = Self.nodeLimit - shown.count
        var files: [Int32: [File]] = [:]
        for file in largest.sorted(by: { $0.bytes > $1.bytes }).prefix(max(room, 0))
        where shown.contains(file.directory) {
            files[file.directory, default: []].append(file)
        }
        return node(of: NameTree.root, shown: shown, files: files)
    }

    /// The larger half of the nodes that fit on a page, each with the directories above it.
    private func shownDirectories() -> Set<Int32> {
        // A parent is at least as large as its children; if it is equally large, it comes first.
        let bySize = directories.indices.sorted {
            (directories[$0].bytes, $1) > (directories[$1].bytes, $0)
        }
        var shown: Set<Int32> = [NameTree.root]
        for directory in bySize.prefix(Self.nodeLimit / 2).map({ Int32($0) }) {
            guard let parent = names.parent(of: directory), shown.contains(parent) else { continue }
            shown.insert(directory)
        }
        return shown
    }

    private func node(
        of directory: Int32,
        shown: Set<Int32>,
        files: [Int32: [File]]
    ) -> ReportNode {
        var children = names.children(of: directory)
            .filter(shown.contains)
            .map { node(of: $0, shown: shown, files: files) }
        for file in files[directory] ?? [] {
            children.append(
                ReportNode(
                    name: PrintableText.escaping(file.name),
                    bytes: file.bytes,
                    files: 1,
                    type: ReportType.family(of: EntryPath(bytes: file.name)),
                    state: file.state ?? differing[file.hash]
                )
            )
        }
        let facts = directories[Int(directory)]
        if let rest = Self.rest(of: facts, beside: children) { children.append(rest) }
        var whole = ReportNode(
            name: PrintableText.escaping(names.name(of: directory)),
            bytes: facts.bytes,
            files: facts.files,
            type: .directory,
            state: facts.state ?? (facts.differences > 0 ? .different : nil)
        )
        whole.omitted = facts.omitted
        whole.children = children.sorted { ($0.bytes, $1.name) > ($1.bytes, $0.name) }
        return whole
    }

    /// The files of a directory that are too small to be shown by name.
    private static func rest(of facts: Directory, beside shown: [ReportNode]) -> ReportNode? {
        let seen = shown.reduce(into: ReportAmount()) { amount, child in
            amount.bytes.addSaturating(child.bytes)
            amount.files += child.files
        }
        guard facts.files > seen.files else { return nil }
        let count = facts.files - seen.files
        return ReportNode(
            name: GroupedCount(count).of("smaller file", "smaller files"),
            bytes: facts.bytes - seen.bytes,
            files: count,
            type: .folded,
            state: nil
        )
    }
}

// MARK: - Values

/// A number of files and their bytes.
struct ReportAmount {
    var files: UInt64 = 0
    var bytes: UInt64 = 0

    mutating func add(_ bytes: UInt64) {
        files += 1
        self.bytes.addSaturating(bytes)
    }
}

/// How a part of an archive compares with the container.
package enum ReportState: String, Encodable {
    case different
    /// Only the container has it.
    case added
    /// Only the archive has it.
    case missing
    /// An export omits it, or an import did not restore it.
    case omitted
    /// An app's extension did not append it.
    case leftBehind = "left behind"
}

/// A directory, a file, or the files of a directory that are too small to be shown.
struct ReportNode: JSONObject {
    let name: String
    let bytes: UInt64
    let files: UInt64
    let type: ReportType
    let state: ReportState?
    /// How many of a directory's files are not moved.
    var omitted: UInt64 = 0
    var children: [ReportNode] = []

    var members: JSONMembers {
        [
            "n": name, "b": bytes, "t": type, "s": state, "f": files == 1 ? nil : files,
            "o": omitted == 0 ? nil : omitted, "c": children.isEmpty ? nil : children,
        ]
    }
}

/// The types of files that a page shows in one color.
enum ReportType: String, Encodable, CaseIterable {
    case directory
    case folded
    case image
    case video
    case audio
    case database
    case document
    case code
    case other

    /// The name of the type of files without an extension, and of those that have a rare one.
    static let restName = "other"

    private static let families: [ReportType: Set<String>] = [
        .image: ["jpg", "jpeg", "png", "heic", "heif", "gif", "webp", "tiff", "svg", "dng"],
        .video: ["mov", "mp4", "m4v", "webm", "avi"],
        .audio: ["m4a", "mp3", "aac", "wav", "caf", "opus", "flac"],
        .database: ["db", "sqlite", "sqlite3", "db-wal", "db-shm", "sqlite-wal", "sqlite-shm"],
        .document: ["txt", "md", "pdf", "rtf", "html", "doc", "docx", "pages", "csv", "xlsx"],
        .code: ["json", "plist", "xml", "js", "css", "yaml", "strings", "log"],
    ]

    /// The extension of a name in lower case, if it is short and plain.
    static func name(of path: EntryPath) -> String {
        let name = path.lastComponent
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return restName
        }
        let ending = name[(dot + 1)...]
        let isPlain = ending.allSatisfy { byte in
            let letter = UInt8(ascii: "a")...UInt8(ascii: "z")
            let digit = UInt8(ascii: "0")...UInt8(ascii: "9")
            return letter.contains(byte | 0x20) || digit.contains(byte) || byte == UInt8(ascii: "-")
        }
        guard isPlain, (1...12).contains(ending.count) else { return restName }
        return String(decoding: ending, as: UTF8.self).lowercased()
    }

    static func family(of path: EntryPath) -> ReportType {
        let type = name(of: path)
        return families.first { $0.value.contains(type) }?.key ?? .other
    }
}
