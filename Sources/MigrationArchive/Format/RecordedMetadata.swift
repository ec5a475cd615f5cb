internal import MigrationSystem

/// The owner and the attributes of an entry, as pax records state them.
struct RecordedMetadata {
    /// The numbers in the records; `nil` for one that is in the header's own field.
    private(set) var user: UInt32?
    private(set) var group: UInt32?

    /// The attributes, in the order of the records.
    private(set) var attributes: [ExtendedAttribute] = []

    private let extra: ExtraMetadata

    /// Makes an empty one; records may add the metadata that `extra` names.
    init(holding extra: ExtraMetadata) {
        self.extra = extra
    }

    /// Reads the records in `bytes`; `nil` if one is malformed or of another kind.
    init?(_ bytes: [UInt8], _ extra: ExtraMetadata) {
        self.init(holding: extra)
        // Every reader reports such records in its own way.
        guard let records = try? PaxRecords(parsing: bytes) else { return nil }
        for record in records.records {
            guard take(record) else { return nil }
        }
    }

    /// The owner, if both numbers are known.
    var owner: FileOwner? {
        guard let user, let group else { return nil }
        return FileOwner(user: user, group: group)
    }

    /// Takes a record; returns whether it is of a known kind and can be read.
    mutating func take(_ record: PaxRecords.Record) -> Bool {
        switch record.key {
        case PaxKey.user where extra.contains(.owners):
            user = Self.number(record.value)
            return user != nil
        case PaxKey.group where extra.contains(.owners):
            group = Self.number(record.value)
            return group != nil
        default:
            guard let attribute = Self.attribute(record) else { return false }
            attributes.append(attribute)
            return extra.includesAttribute(attribute.name)
        }
    }

    private static func attribute(_ record: PaxRecords.Record) -> ExtendedAttribute? {
        if let kind = AccessList.Kind(keyword: record.key) {
            guard let list = AccessList(text: record.value) else { return nil }
            return ExtendedAttribute(name: kind.attributeName, value: list.attributeValue)
        }
        guard let name = PaxKey.attributeName(of: record.key),
            AccessList.Kind(attributeName: name) == nil
        else { return nil }
        return ExtendedAttribute(name: name, value: record.value)
    }

    /// The number of a user or a group in decimal digits.
    static func number(_ text: [UInt8]) -> UInt32? {
        PaxKey.number(text).flatMap { UInt32(exactly: $0) }
    }
}
