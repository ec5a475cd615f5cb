@testable internal import IPhoneBackups
@testable internal import MigrationArchive
@testable internal import MigrationSystem
@testable internal import PropertyLists

/// Promises about every object of a row in `Manifest.db`.
public enum FileRecordPromises {
    private static let file = "file"
    private static let directory = "directory"
    private static let link = "link"
    private static let attributed = "object with attributes"
    private static let keyed = "file with a key and a digest"
    private static let whole = "object that both readers read"
    private static let flawed = "object with a flaw"

    /// The milestones that the seeds must reach.
    public static let milestones = [file, directory, link, attributed, keyed, whole, flawed]

    private static let path = [UInt8]("Documents/a".utf8)

    /// Reads an object whose list is made of the input.
    ///
    /// Bits 0 and 1 of the first byte say the kind in the row; bit 2, that the rest is objects of a list.
    public static func check(_ bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let rest = [UInt8](bytes.dropFirst())
        let archive = first & 4 == 0 ? rest : BinaryPropertyList.list(of: rest)
        let flags = Int64(1) << Int64(first & 3)
        do throws(FlawedRecord) {
            let record = try FileRecord(archive: archive, path: path, flags: flags)
            FuzzTarget.require(record.path == path, "the row decides on the path")
            FuzzTarget.require(record.kind.flags == flags, "a record has one kind")
            FuzzTarget.require(record.permissions & ~0o1777 == 0, "no bit sets a user")
            FuzzTarget.require(record.time.magnitude < 1 << 38, "a time is one")
            FuzzTarget.require(
                try FileRecord.size(inArchive: archive) == record.size,
                "a record has one size"
            )
            reach(record)
            compare(record, archive)
        } catch {
            Milestones.reach(flawed)
        }
    }

    private static func reach(_ record: FileRecord) {
        switch record.kind {
        case .file: Milestones.reach(file)
        case .directory: Milestones.reach(directory)
        case .link: Milestones.reach(link)
        }
        if record.key != nil, record.digest != nil { Milestones.reach(keyed) }
        guard !record.attributes.isEmpty else { return }
        Milestones.reach(attributed)
        for attribute in record.attributes {
            FuzzTarget.require(attribute.name.starts(with: "user.".utf8), "a name has a namespace")
        }
    }

    /// The reader that reads a list whole finds the same, if it takes the list.
    private static func compare(_ record: FileRecord, _ archive: [UInt8]) {
        guard let list = try? PropertyListValue.read(archive),
            let objects = list["$objects"]?.array, let top = list["$top"]?["root"]?.uid
        else { return }
        FuzzTarget.require(top < UInt64(objects.count), "the root is an object")
        let root = objects[Int(top)]
        FuzzTarget.require((root["Size"]?.integer ?? 0) == record.size, "the size is the same")
        FuzzTarget.require(
            (root["LastModified"]?.integer ?? 0) == record.time,
            "the time is the same"
        )
        Milestones.reach(whole)
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let key: [UInt8] = [3, 0, 0, 0] + [UInt8](repeating: 7, count: 40)
        let all = object(mode: 0o100644, key: key, digest: [UInt8](repeating: 9, count: 20))
        return [
            [4] + all, [5] + object(mode: 0o040755), [6] + object(mode: 0o120755, target: "b"),
            [0] + BinaryPropertyList.list(of: object(mode: 0o100600)),
            [4] + object(mode: 0o100644, attributes: [("name", "value")]),
            [4] + object(mode: 0o100644, path: "Documents/b"), [5] + object(mode: 0o100644),
            [4] + all.dropLast(9), [4, 0xA1, 0],
        ]
    }

    /// The objects of a list, for ``BinaryPropertyList``.
    static func object(
        mode: UInt16,
        path: String = "Documents/a",
        target: String? = nil,
        key: [UInt8] = [],
        digest: [UInt8] = [],
        attributes: [(String, String)] = []
    ) -> [UInt8] {
        // The root, the words that it needs, and the first two objects of the archive.
        var objects: [[UInt8]] = [
            [0xD2, 1, 3, 2, 4], text("$top"), [0xD1, 5, 6], text("$objects"), [], text("root"),
            [0x80, 1], text("$null"), [],
        ]
        var archived = [7, 8] as [UInt8]
        var members: [(UInt8, UInt8)] = []
        func add(_ object: [UInt8]) -> UInt8 {
            objects.append(object)
            return UInt8(objects.count - 1)
        }
        func set(_ field: String, _ value: [UInt8], isObject: Bool = false) {
            let name = add(text(field))
            var place = add(value)
            if isObject {
                archived.append(place)
                place = add([0x80, UInt8(archived.count - 1)])
            }
            members.append((name, place))
        }
        set("Mode", [0x11, UInt8(mode >> 8), UInt8(mode & 0xFF)])
        set("Size", [0x10, 5])
        set("LastModified", [0x12, 0x65, 0x53, 0x71, 0])
        set("RelativePath", text(path), isObject: true)
        if let target { set("Target", text(target), isObject: true) }
        if !digest.isEmpty { set("Digest", data(digest), isObject: true) }
        if !key.isEmpty {
            let word = add(text("NS.data"))
            let place = add(data(key))
            set("EncryptionKey", [0xD1, word, place], isObject: true)
        }
        if !attributes.isEmpty {
            let words = attributes.flatMap { [text($0.0), data([UInt8]($0.1.utf8))] }
            let count = UInt8(attributes.count)
            let names = (0..<count).map { 1 + 2 * $0 }
            let root = [0xD0 | count] + names + names.map { $0 + 1 }
            let inner = [UInt8](([root] + words).joined(separator: [0xFF]))
            set("ExtendedAttributes", data(BinaryPropertyList.list(of: inner)), isObject: true)
        }
        objects[4] = [0xA0 | UInt8(archived.count)] + archived
        objects[8] = [0xD0 | UInt8(members.count)] + members.map(\.0) + members.map(\.1)
        return [UInt8](objects.joined(separator: [0xFF]))
    }

    private static func text(_ text: String) -> [UInt8] {
        let count = UInt8(text.utf8.count)
        return (count < 15 ? [0x50 | count] : [0x5F, 0x10, count]) + [UInt8](text.utf8)
    }

    private static func data(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt8(bytes.count)
        return (count < 15 ? [0x40 | count] : [0x4F, 0x10, count]) + bytes
    }
}
