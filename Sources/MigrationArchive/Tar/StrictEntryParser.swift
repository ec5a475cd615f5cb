internal import MigrationSystem

/// Turns a header that the writer could have written into the entry that it stands for.
///
/// The result is encoded again and compared by the caller, so nothing has to be checked here that
/// the comparison finds: redundant fields, other spellings, an unexpected order.
enum StrictEntryParser {
    /// Returns the entry, or `nil` where a field can't be read or a record is of no known kind.
    static func parse(_ block: UstarBlock, _ records: PaxRecords) -> ArchiveEntry? {
        var fields = Fields(of: block)
        for record in records.records {
            guard fields.apply(record) else { return nil }
        }
        guard let kind = fields.kind(typeFlag: block[UstarBlock.Field.typeFlag]),
            let permissions = block.octal(at: UstarBlock.Field.mode), permissions <= 0o7777,
            let time = fields.modificationTime
        else { return nil }
        return ArchiveEntry(
            path: EntryPath(bytes: fields.path(of: kind)),
            kind: kind,
            permissions: UInt16(permissions),
            modificationTime: time,
            extendedAttributes: fields.attributes
        )
    }

    /// Says what in `entry` must not be restored, or returns `nil` where all may be.
    static func violation(of entry: ArchiveEntry) -> String? {
        if let violation = PathRules.violation(of: entry.path.bytes) { return violation }
        if !entry.extendedAttributes.isEmpty && entry.isLink { return "a link with attributes" }
        for attribute in entry.extendedAttributes {
            let violation = PathRules.violation(ofAttributeName: attribute.name)
            if let violation { return violation }
        }
        for (left, right) in zip(entry.extendedAttributes, entry.extendedAttributes.dropFirst())
        where !left.name.lexicographicallyPrecedes(right.name) {
            return "attributes that are not in order"
        }
        switch entry.kind {
        case .symbolicLink(let target): return PathRules.violation(ofLinkTarget: target)
        case .hardLink(let target):
            if target == entry.path { return "a hard link to itself" }
            return PathRules.violation(of: target.bytes).map { "a hard link's target: \($0)" }
        case .file, .directory: return nil
        }
    }

    private struct Fields {
        var name: [UInt8]
        var link: [UInt8]
        var size: UInt64?
        var modificationTime: FileTime?
        var attributes: [ExtendedAttribute] = []

        init(of block: UstarBlock) {
            let prefix = block.text(at: UstarBlock.Field.prefix)
            let last = block.text(at: UstarBlock.Field.name)
            name = prefix.isEmpty ? last : prefix + [UInt8(ascii: "/")] + last
            link = block.text(at: UstarBlock.Field.linkName)
            size = block.octal(at: UstarBlock.Field.size)
            modificationTime = block.octal(at: UstarBlock.Field.modificationTime)
                .flatMap { Int64(exactly: $0) }.map { FileTime(seconds: $0) }
        }

        mutating func apply(_ record: PaxRecords.Record) -> Bool {
            switch record.key {
            case PaxKey.path: name = record.value
            case PaxKey.linkPath: link = record.value
            case PaxKey.size: size = PaxKey.number(record.value)
            case PaxKey.modificationTime: modificationTime = PaxTime.decode(record.value)
            case PaxKey.headerCharacterSet: break
            default:
                guard let name = PaxKey.attributeName(of: record.key),
                    name.starts(with: PaxKey.userNamespace)
                else { return false }
                attributes.append(ExtendedAttribute(name: name, value: record.value))
            }
            return true
        }

        func kind(typeFlag: UInt8) -> ArchiveEntry.Kind? {
            switch typeFlag {
            case TypeFlag.regular: size.map { .file(size: $0) }
            case TypeFlag.directory: .directory
            case TypeFlag.symbolicLink: .symbolicLink(target: link)
            case TypeFlag.hardLink: .hardLink(target: EntryPath(bytes: link))
            default: nil
            }
        }

        func path(of kind: ArchiveEntry.Kind) -> [UInt8] {
            guard kind == .directory, name.last == UInt8(ascii: "/") else { return name }
            return [UInt8](name.dropLast())
        }
    }
}
