internal import MigrationArchive
internal import MigrationSystem
internal import PropertyLists

/// A file, directory or link, as the manifest of a backup describes it.
struct FileRecord {
    enum Kind: Equatable {
        case file, directory
        case link(target: [UInt8])

        /// The value of `flags` in a row of that kind.
        var flags: Int64 {
            switch self {
            case .file: 1
            case .directory: 2
            case .link: 4
            }
        }
    }

    /// The path in the container; empty for the container itself.
    var path: [UInt8]
    var kind: Kind
    /// The permission bits, without set-user-id and set-group-id.
    var permissions: UInt16
    /// When the content was last changed, in seconds since 1970.
    var time: Int64
    /// The size when the row was written; it is wrong if the content changed since.
    var size: Int64
    /// The number that two names of one file share; 0 if there is none.
    var inode: UInt64
    var key: WrappedKey?
    /// The SHA-1 of the stored bytes, which only system files have.
    var digest: [UInt8]?
    /// The attributes in the order of their names, with Linux names.
    var attributes: [ExtendedAttribute]

    private enum Mode {
        static let typeMask: UInt64 = 0o170000
        static let file: UInt64 = 0o100000
        static let directory: UInt64 = 0o040000
        static let link: UInt64 = 0o120000
        /// The bits that an archive keeps: the permissions and the sticky bit.
        static let kept: UInt64 = 0o1777
    }

    /// The kind in st_mode; `nil` for a device or any other kind.
    static func kind(ofMode mode: UInt64, target: [UInt8]?) -> Kind? {
        switch mode & Mode.typeMask {
        case Mode.file: .file
        case Mode.directory: .directory
        case Mode.link: target.map { .link(target: $0) }
        default: nil
        }
    }

    /// The permission bits in st_mode.
    static func permissions(ofMode mode: UInt64) -> UInt16 {
        UInt16(mode & Mode.kept)
    }

    /// Attributes of Apple's systems, which have no namespaces, with Linux names.
    static func attributes(
        of values: [([UInt8], [UInt8])]
    ) throws(FlawedRecord) -> [ExtendedAttribute] {
        guard values.count <= 1_000 else { throw FlawedRecord("it has over 1,000 attributes") }
        let attributes = values.map { name, value in
            ExtendedAttribute(name: ExtendedAttribute.userNamespace + name, value: value)
        }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        for (index, attribute) in attributes.enumerated() {
            let isTwice = index > 0 && attributes[index - 1].name == attribute.name
            guard attribute.name.count <= 255, !attribute.name.contains(0), !isTwice,
                attribute.name.count > ExtendedAttribute.userNamespace.count
            else { throw FlawedRecord("an attribute has a name that no file can have") }
        }
        return attributes
    }

    /// The name of the stored file: the SHA-1 of the domain and the path, in hex.
    static func identifier(of path: [UInt8], in domain: [UInt8]) -> [UInt8] {
        let digits = [UInt8]("0123456789abcdef".utf8)
        return BackupCipher.sha1(domain + [UInt8(ascii: "-")] + path).flatMap { byte in
            [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
        }
    }
}

/// Why a row of the manifest can't be used.
struct FlawedRecord: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

// MARK: - Archives of objects

extension FileRecord {
    /// More seconds than any date in use.
    private static let timeLimit: UInt64 = 1 << 38

    /// The largest archive of a row's object; real ones have about 500 bytes.
    static let archiveLimit = 1 << 20

    /// Reads the object of a row in `Manifest.db`, an `MBFile` in a keyed archive.
    ///
    /// - Parameters:
    ///   - archive: The archive, a binary property list.
    ///   - path: The path in the row.
    ///   - flags: The kind in the row: 1 for a file, 2 for a directory, 4 for a link.
    /// - Throws: ``FlawedRecord`` if it can't be read, or contradicts the row.
    init(archive: [UInt8], path: [UInt8], flags: Int64) throws(FlawedRecord) {
        let object = try KeyedArchive(archive)
        guard let mode = try object.integer("Mode"), mode >= 0 else {
            throw FlawedRecord("its row has no mode")
        }
        let target = try object.text("Target")
        guard let kind = Self.kind(ofMode: UInt64(mode), target: target) else {
            throw FlawedRecord("it is neither a file nor a directory nor a link")
        }
        guard flags == kind.flags else {
            throw FlawedRecord("its row is of kind \(flags), and its mode says another one")
        }
        guard try object.text("RelativePath") == path else {
            throw FlawedRecord("its row has two different paths")
        }
        (self.path, self.kind) = (path, kind)
        permissions = Self.permissions(ofMode: UInt64(mode))
        time = try object.integer("LastModified") ?? 0
        guard time.magnitude < Self.timeLimit else {
            throw FlawedRecord("its time is out of range: \(time) seconds since 1970")
        }
        size = try object.integer("Size") ?? 0
        inode = UInt64(bitPattern: try object.integer("InodeNumber") ?? 0)
        digest = try object.data("Digest")
        attributes = try object.data("ExtendedAttributes").map(Self.attributes(inList:)) ?? []
        if let bytes = try object.data("EncryptionKey") {
            guard let key = WrappedKey(bytes) else {
                throw FlawedRecord("its key is \(bytes.count) bytes long")
            }
            self.key = key
        }
    }

    /// Reads only the size of a file from the object of its row.
    static func size(inArchive archive: [UInt8]) throws(FlawedRecord) -> Int64 {
        try KeyedArchive(archive).integer("Size") ?? 0
    }

    private static func attributes(
        inList bytes: [UInt8]
    ) throws(FlawedRecord) -> [ExtendedAttribute] {
        let list: PropertyListValue
        do {
            list = try PropertyListValue.read(bytes, limits: KeyedArchive.limits)
        } catch {
            throw FlawedRecord("its attributes can't be read: \(error)")
        }
        var values: [([UInt8], [UInt8])] = []
        for (name, value) in list.dictionary ?? [:] {
            guard let data = value.data else {
                throw FlawedRecord("an attribute isn't data")
            }
            values.append(([UInt8](name.utf8), data))
        }
        return try attributes(of: values)
    }
}

/// The root object of an archive of `NSKeyedArchiver`; only the requested fields are read.
private struct KeyedArchive {
    static let limits = PropertyListLimits(
        values: 20_000,
        expandedBytes: 4 * FileRecord.archiveLimit,
        depth: 16
    )

    private let list: BinaryPropertyList
    /// The array of all objects.
    private let objects: Int
    private let root: Int

    init(_ bytes: [UInt8]) throws(FlawedRecord) {
        let found = try Self.reading { () throws(PropertyListError) in
            let list = try BinaryPropertyList(bytes)
            guard let objects = try list.member("$objects", of: list.root),
                let top = try list.member("$top", of: list.root),
                let reference = try list.member("root", of: top),
                let number = try list.value(of: reference)?.uid,
                let root = try list.element(number, of: objects)
            else { return nil as (BinaryPropertyList, Int, Int)? }
            return (list, objects, root)
        }
        guard let found else { throw FlawedRecord("its row isn't an archive of an object") }
        (list, objects, root) = found
    }

    private static func reading<Value>(
        _ body: () throws(PropertyListError) -> Value
    ) throws(FlawedRecord) -> Value {
        do {
            return try body()
        } catch {
            throw FlawedRecord("its row can't be read: \(error)")
        }
    }

    func integer(_ field: String) throws(FlawedRecord) -> Int64? {
        try Self.reading { () throws(PropertyListError) in
            guard let reference = try list.member(field, of: root) else { return nil }
            return try list.value(of: reference)?.integer
        }
    }

    func text(_ field: String) throws(FlawedRecord) -> [UInt8]? {
        let text = try value(field, in: "NS.string")?.string
        return text.map { [UInt8]($0.utf8) }
    }

    func data(_ field: String) throws(FlawedRecord) -> [UInt8]? {
        try value(field, in: "NS.data")?.data
    }

    /// The value of a field, which may be under a key of a nested object.
    private func value(_ field: String, in key: String) throws(FlawedRecord) -> PropertyListValue? {
        try Self.reading { () throws(PropertyListError) in
            guard let found = try list.member(field, of: root), let object = try resolve(found)
            else { return nil }
            if let value = try list.value(of: object) { return value }
            guard let inner = try list.member(key, of: object), let content = try resolve(inner)
            else { return nil }
            return try list.value(of: content)
        }
    }

    /// The object that a number refers to; any other object stands for itself.
    private func resolve(_ object: Int) throws(PropertyListError) -> Int? {
        guard let number = try list.value(of: object)?.uid else { return object }
        return try list.element(number, of: objects)
    }
}
