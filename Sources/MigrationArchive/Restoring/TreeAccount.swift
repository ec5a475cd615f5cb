internal import MigrationSystem

/// A virtual tree: the entries that a disk would hold, without content.
///
/// Names are kept as unpredictable hashes. If there are more than a few hundred thousand, the
/// account moves to an unnamed file, so that memory does not depend on the archive.
///
/// Safe because one thread at a time has the tree.
final class TreeAccount: @unchecked Sendable {
    fileprivate enum Kind: UInt64 {
        case removed = 1, file, linkedFile, directory, symbolicLink, linkedSymbolicLink
    }

    /// The record of a name: its kind, and a file's size or the offset of a link's target.
    fileprivate struct Record {
        var kind: Kind
        var number: UInt64

        private static let numberBits: UInt64 = 60

        init(_ kind: Kind, number: UInt64 = 0) {
            self.kind = kind
            self.number = min(number, 1 << Self.numberBits - 1)
        }

        init?(word: UInt64) {
            guard let kind = Kind(rawValue: word >> Self.numberBits) else { return nil }
            self.init(kind, number: word & (1 << Self.numberBits - 1))
        }

        var word: UInt64 { kind.rawValue << Self.numberBits | number }
    }

    private var table = HashTable()
    private let targets = RecordSpool(in: nil)

    /// The tree's root.
    var root: any RestoredDirectory { AccountedDirectory(of: self, key: 0) }

    fileprivate func record(_ key: UInt64) throws(SystemError) -> Record? {
        guard let record = Record(word: try table.value(of: key)), record.kind != .removed else {
            return nil
        }
        return record
    }

    fileprivate func set(_ record: Record, at key: UInt64) throws(SystemError) {
        try table.set(record.word, of: key)
    }

    fileprivate func keep(target: [UInt8]) throws(SystemError) -> UInt64 {
        try targets.append(target)
    }

    fileprivate func target(at position: UInt64) throws(SystemError) -> [UInt8] {
        try targets.record(at: position)
    }
}

/// A directory of such a tree.
private final class AccountedDirectory: RestoredDirectory {
    private let tree: TreeAccount
    /// The hash of the directory's path.
    private let key: UInt64

    init(of tree: TreeAccount, key: UInt64) {
        self.tree = tree
        self.key = key
    }

    private func key(of name: [UInt8]) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key)
        unsafe name.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func record(
        of name: [UInt8],
        for call: String
    ) throws(SystemError) -> TreeAccount.Record {
        guard let record = try tree.record(key(of: name)) else { throw .missing(call) }
        return record
    }

    private func make(
        _ name: [UInt8],
        for call: String,
        record: TreeAccount.Record
    ) throws(SystemError) {
        let key = key(of: name)
        guard try tree.record(key) == nil else { throw .existing(call) }
        try tree.set(record, at: key)
    }

    func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        let record = try record(of: name, for: "lstat")
        let (kind, linkCount): (FileStatus.Kind, UInt64) =
            switch record.kind {
            case .directory: (.directory, 2)
            case .file: (.regular, 1)
            case .linkedFile: (.regular, 2)
            case .symbolicLink: (.symbolicLink, 1)
            case .linkedSymbolicLink: (.symbolicLink, 2)
            case .removed: (.unknown, 0)
            }
        return FileStatus(
            kind: kind,
            identity: FileStatus.Identity(device: 0, inode: key(of: name)),
            linkCount: linkCount,
            size: kind == .regular ? record.number : 0
        )
    }

    func openDirectory(_ name: [UInt8]) throws(SystemError) -> any RestoredDirectory {
        guard try record(of: name, for: "open").kind == .directory else {
            throw .notDirectory("open")
        }
        return AccountedDirectory(of: tree, key: key(of: name))
    }

    func makeDirectory(_ name: [UInt8], permissions: UInt16) throws(SystemError) {
        try make(name, for: "mkdir", record: TreeAccount.Record(.directory))
    }

    func makeFile(
        _ name: ArraySlice<UInt8>,
        permissions: UInt16,
        size: UInt64
    ) throws(SystemError) -> FileDescriptor? {
        try make([UInt8](name), for: "open", record: TreeAccount.Record(.file, number: size))
        return nil
    }

    func makeSymbolicLink(
        _ name: [UInt8],
        to target: [UInt8],
        modificationTime: FileTime?
    ) throws(SystemError) {
        guard try tree.record(key(of: name)) == nil else { throw .existing("symlink") }
        let position = try tree.keep(target: target)
        try make(name, for: "symlink", record: TreeAccount.Record(.symbolicLink, number: position))
    }

    func symbolicLinkTarget(_ name: [UInt8]) throws(SystemError) -> [UInt8] {
        let record = try record(of: name, for: "readlink")
        guard record.kind == .symbolicLink || record.kind == .linkedSymbolicLink else {
            throw .invalid("readlink")
        }
        return try tree.target(at: record.number)
    }

    func makeHardLink(
        _ name: [UInt8],
        to target: [UInt8],
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        guard let directory = directory as? AccountedDirectory else { throw .invalid("link") }
        var record = try directory.record(of: target, for: "link")
        switch record.kind {
        case .file, .linkedFile: record.kind = .linkedFile
        case .symbolicLink, .linkedSymbolicLink: record.kind = .linkedSymbolicLink
        case .directory, .removed: throw .invalid("link")
        }
        try make(name, for: "link", record: record)
        try tree.set(record, at: directory.key(of: target))
    }

    func removeFile(_ name: [UInt8]) throws(SystemError) {
        guard try record(of: name, for: "unlink").kind != .directory else {
            throw .invalid("unlink")
        }
        try tree.set(TreeAccount.Record(.removed), at: key(of: name))
    }

    func removeDirectory(_ name: [UInt8]) throws(SystemError) {
        guard try record(of: name, for: "rmdir").kind == .directory else {
            throw .notDirectory("rmdir")
        }
        try tree.set(TreeAccount.Record(.removed), at: key(of: name))
    }
}
