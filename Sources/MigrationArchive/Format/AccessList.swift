internal import MigrationSystem

/// An access control list, as the kernel keeps it in an attribute and tar in a pax record.
///
/// The attribute is `version:4 (tag:2 permissions:2 id:4)...`, little-endian
/// (`linux/posix_acl_xattr.h`). The record is text as in acl(5), with commas between the entries
/// and numbers for accounts, such as `user::rw-,user:1000:r--,group::r--,mask::r--,other::---`.
struct AccessList: Equatable {
    /// The purpose of a list.
    enum Kind: CaseIterable {
        /// Says who may use the file or directory.
        case access
        /// The list that new files in the directory get.
        case `default`

        /// The attribute in which the kernel keeps the list.
        var attributeName: [UInt8] {
            self == .access ? Self.accessAttribute : Self.defaultAttribute
        }

        /// The keyword of the pax record for the list.
        var keyword: [UInt8] { self == .access ? PaxKey.accessList : PaxKey.defaultAccessList }

        private static let accessAttribute = [UInt8](utf8: "system.posix_acl_access")
        private static let defaultAttribute = [UInt8](utf8: "system.posix_acl_default")

        init?(attributeName name: [UInt8]) { self.init { $0.attributeName == name } }

        init?(keyword: [UInt8]) { self.init { $0.keyword == keyword } }

        private init?(where condition: (Kind) -> Bool) {
            guard let kind = Self.allCases.first(where: condition) else { return nil }
            self = kind
        }
    }

    /// The account or class that an entry gives rights to, in the order that the kernel demands.
    enum Tag: UInt16 {
        case owner = 0x01
        case user = 0x02
        case owningGroup = 0x04
        case group = 0x08
        case mask = 0x10
        case other = 0x20

        var hasAccount: Bool { self == .user || self == .group }

        fileprivate var word: String {
            switch self {
            case .owner, .user: "user"
            case .owningGroup, .group: "group"
            case .mask: "mask"
            case .other: "other"
            }
        }
    }

    struct Entry: Equatable {
        let tag: Tag
        /// From 0 to 7.
        let permissions: UInt16
        /// The account's number; the largest number if the tag has none.
        var id = UInt32.max

        /// By which the entries of a list are sorted.
        fileprivate var order: (UInt16, UInt32) { (tag.rawValue, id) }
    }

    private(set) var entries: [Entry]

    private static let version: UInt32 = 2

    /// Makes a list of entries; `nil` unless the kernel accepts them.
    private init?(checking entries: [Entry]) {
        let areValid = entries.allSatisfy { entry in
            entry.permissions <= 7 && entry.tag.hasAccount == (entry.id != .max)
        }
        // So no tag without an account comes twice.
        let areInOrder = zip(entries, entries.dropFirst()).allSatisfy { $0.order < $1.order }
        let tags = Set(entries.map(\.tag))
        let needsMask = tags.contains(where: \.hasAccount)
        guard areValid, areInOrder, tags.isSuperset(of: [.owner, .owningGroup, .other]),
            !needsMask || tags.contains(.mask)
        else { return nil }
        self.entries = entries
    }
}

// MARK: - The attribute

extension AccessList {
    /// Reads the value of an attribute; `nil` if the kernel doesn't write such a value.
    init?(attributeValue value: [UInt8]) {
        guard value.count >= 4, value.count % 8 == 4,
            value.littleEndian(at: 0, as: UInt32.self) == Self.version
        else { return nil }
        var entries: [Entry] = []
        for position in stride(from: 4, to: value.count, by: 8) {
            guard let tag = Tag(rawValue: value.littleEndian(at: position)) else { return nil }
            let entry = Entry(
                tag: tag,
                permissions: value.littleEndian(at: position + 2),
                id: value.littleEndian(at: position + 4)
            )
            entries.append(entry)
        }
        self.init(checking: entries)
    }

    var attributeValue: [UInt8] {
        var value: [UInt8] = []
        value.appendLittleEndian(Self.version)
        for entry in entries {
            value.appendLittleEndian(entry.tag.rawValue)
            value.appendLittleEndian(entry.permissions)
            value.appendLittleEndian(entry.id)
        }
        return value
    }
}

extension ExtendedAttribute {
    /// Whether the kernel accepts the value, if the attribute is an access control list.
    var isSettable: Bool {
        AccessList.Kind(attributeName: name) == nil || AccessList(attributeValue: value) != nil
    }
}

// MARK: - The record

extension AccessList {
    /// The text of the record.
    var text: [UInt8] {
        let parts = entries.map { entry in
            let account = entry.tag.hasAccount ? String(entry.id) : ""
            let letters = [(4, "r"), (2, "w"), (1, "x")]
                .map { entry.permissions & $0.0 != 0 ? $0.1 : "-" }
            return "\(entry.tag.word):\(account):\(letters.joined())"
        }
        return [UInt8](utf8: parts.joined(separator: ","))
    }

    /// Reads the text of a record; `nil` if it isn't a list, or names an account without its number.
    ///
    /// Entries may be in any order and on separate lines, as GNU tar writes them, and may end in
    /// the account's number, as libarchive writes it.
    init?(text: [UInt8]) {
        var entries: [Entry] = []
        let isBreak = { (byte: UInt8) in byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") }
        for part in text.split(whereSeparator: isBreak) {
            // The comment after '#' lists the effective rights.
            let stated = part.prefix { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\t") }
            guard let entry = Self.entry(stated) else { return nil }
            entries.append(entry)
        }
        entries.sort { $0.order < $1.order }
        self.init(checking: entries)
    }

    private static func entry(_ text: ArraySlice<UInt8>) -> Entry? {
        let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (3...4).contains(fields.count), let permissions = permissions(fields[2]) else {
            return nil
        }
        let hasAccount = !fields[1].isEmpty
        let tag: Tag
        switch fields[0] {
        case "user", "u": tag = hasAccount ? .user : .owner
        case "group", "g": tag = hasAccount ? .group : .owningGroup
        case "mask", "m": tag = .mask
        case "other", "o": tag = .other
        default: return nil
        }
        guard hasAccount == tag.hasAccount else { return nil }
        guard hasAccount else { return Entry(tag: tag, permissions: permissions) }
        let number = [UInt8](fields[fields.count == 4 ? 3 : 1].utf8)
        guard let id = RecordedMetadata.number(number) else { return nil }
        return Entry(tag: tag, permissions: permissions, id: id)
    }

    private static func permissions(_ text: String) -> UInt16? {
        guard text.utf8.count == 3 else { return nil }
        var permissions: UInt16 = 0
        for (byte, (letter, bit)) in zip(text.utf8, [("r", 4), ("w", 2), ("x", 1)]) {
            if byte == letter.utf8.first {
                permissions |= UInt16(bit)
            } else if byte != UInt8(ascii: "-") {
                return nil
            }
        }
        return permissions
    }
}

// MARK: - Accounts

extension AccessList {
    /// The list with accounts replaced by `map`; if several entries then name one account, the
    /// first counts.
    func mapped(by map: OwnerMap) -> AccessList {
        var copy = self
        var seen: Set<UInt64> = []
        copy.entries = entries.map { entry in
            let id =
                switch entry.tag {
                case .user: map.user(entry.id)
                case .group: map.group(entry.id)
                default: entry.id
                }
            return Entry(tag: entry.tag, permissions: entry.permissions, id: id)
        }
        .filter {
            !$0.tag.hasAccount
                || seen.insert(UInt64($0.tag.rawValue) << 32 | UInt64($0.id)).inserted
        }
        .sorted { $0.order < $1.order }
        return copy
    }
}

extension ExtendedAttribute {
    /// The attribute with accounts replaced by `map`, if it is an access control list.
    func mapped(by map: OwnerMap) -> ExtendedAttribute {
        guard AccessList.Kind(attributeName: name) != nil,
            let list = AccessList(attributeValue: value)
        else { return self }
        return ExtendedAttribute(name: name, value: list.mapped(by: map).attributeValue)
    }
}

extension [ExtendedAttribute] {
    /// The attributes that hold access control lists, which change the permissions when they are set.
    var accessLists: [ExtendedAttribute] {
        filter { AccessList.Kind(attributeName: $0.name) != nil }
    }

    var besideAccessLists: [ExtendedAttribute] {
        filter { AccessList.Kind(attributeName: $0.name) == nil }
    }
}
