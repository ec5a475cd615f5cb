internal import Foundation
internal import MigrationSystem

/// The values that an entry of another program's tar file gets from the headers before it.
struct ForeignHeaders {
    private var local: [[UInt8]: [UInt8]] = [:]
    private var sparsePairs: [SparseMap.Extent] = []
    private var pendingOffset: UInt64?
    private var longName: [UInt8]?
    private var longLink: [UInt8]?

    /// The size of the headers so far, which is limited.
    private(set) var byteCount = 0

    private static let sparseOffset = [UInt8]("GNU.sparse.offset".utf8)
    private static let sparseCount = [UInt8]("GNU.sparse.numbytes".utf8)

    /// Whether no header precedes the entry.
    var isEmpty: Bool { byteCount == 0 }

    mutating func take(longName bytes: [UInt8]) {
        longName = [UInt8](bytes.prefix { $0 != 0 })
        byteCount += bytes.count + 1
    }

    mutating func take(longLink bytes: [UInt8]) {
        longLink = [UInt8](bytes.prefix { $0 != 0 })
        byteCount += bytes.count + 1
    }

    /// Takes the records of an extended header; a later record of a keyword replaces an earlier one.
    mutating func take(_ records: PaxRecords, byteCount: Int) -> Bool {
        self.byteCount += byteCount + 1
        for record in records.records {
            switch record.key {
            case Self.sparseOffset:
                guard pendingOffset == nil, let offset = PaxKey.number(record.value) else {
                    return false
                }
                pendingOffset = offset
            case Self.sparseCount:
                guard let offset = pendingOffset, let count = PaxKey.number(record.value),
                    sparsePairs.count < SparseMap.limit
                else { return false }
                sparsePairs.append(SparseMap.Extent(offset: offset, count: count))
                pendingOffset = nil
            default: local[record.key] = record.value
            }
        }
        return pendingOffset == nil
    }

    /// The value of `key`; an empty value means that there is none (POSIX.1-2017, pax).
    func value(_ key: [UInt8]) -> [UInt8]? {
        local[key].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a record cancels earlier values of `key`.
    func isCleared(_ key: [UInt8]) -> Bool { local[key]?.isEmpty ?? false }

    func value(_ key: String) -> [UInt8]? {
        value([UInt8](key.utf8))
    }

    /// The entry's name from the headers before it; a sparse file's own name comes first.
    var path: [UInt8]? {
        value("GNU.sparse.name") ?? value(PaxKey.path) ?? longName
    }

    var linkPath: [UInt8]? { value(PaxKey.linkPath) ?? longLink }

    /// The map of form 0.0, one record per extent.
    var sparseExtents: [SparseMap.Extent]? { sparsePairs.isEmpty ? nil : sparsePairs }
}

// MARK: - Attributes

extension ForeignHeaders {
    /// Attributes in byte order of their names, including empty values; if several records spell
    /// the same name differently, the last in byte order counts.
    ///
    /// Access control lists are taken only from `lists`.
    func attributes(
        besides lists: [(kind: AccessList.Kind, list: AccessList)] = []
    ) -> [ExtendedAttribute] {
        var values: [[UInt8]: [UInt8]] = [:]
        for (key, value) in local.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let attribute = attribute(key: key, value: value) else { continue }
            values[attribute.name] = attribute.value
        }
        for (kind, list) in lists { values[kind.attributeName] = list.attributeValue }
        return values.map { ExtendedAttribute(name: $0, value: $1) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// The attribute that a record holds; `nil` if another record holds the same attribute in a better form.
    private func attribute(key: [UInt8], value: [UInt8]) -> ExtendedAttribute? {
        if let name = LibarchiveAttribute.encodedName(in: key) {
            return LibarchiveAttribute.decode(name: name, value: value)
        }
        guard let name = PaxKey.attributeName(of: key) else { return nil }
        let other = LibarchiveAttribute.prefix + key.dropFirst(PaxKey.attributePrefix.count)
        if let value = local[other], attribute(key: other, value: value) != nil { return nil }
        return ExtendedAttribute(name: name, value: value)
    }

    /// The access control lists that add something to the mode, and whose accounts have numbers.
    var accessLists: [(kind: AccessList.Kind, list: AccessList)] {
        AccessList.Kind.allCases.compactMap { kind in
            guard let text = value(kind.keyword),
                kind == .default || !Self.saysNoMoreThanMode(text),
                let list = AccessList(text: text)
            else { return nil }
            return (kind, list)
        }
    }

    /// The keywords of records with attributes that are never restored, in byte order, without the access
    /// control lists of `kinds`.
    func unrestoredKeywords(besides kinds: [AccessList.Kind] = []) -> [[UInt8]] {
        let restored = kinds.map(\.keyword)
        return local.filter { !$1.isEmpty && Self.isUnrestored(key: $0, value: $1) }.keys
            .filter { !restored.contains($0) }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func isUnrestored(key: [UInt8], value: [UInt8]) -> Bool {
        if let name = LibarchiveAttribute.encodedName(in: key) {
            return LibarchiveAttribute.decode(name: name, value: value) == nil
        }
        if key == PaxKey.accessList { return !saysNoMoreThanMode(value) }
        return key.starts(with: PaxKey.accessListPrefix) || key == PaxKey.securityLabel
    }

    /// Whether an access control list is one of those that tars write for every file.
    private static func saysNoMoreThanMode(_ accessList: [UInt8]) -> Bool {
        accessList.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\n") }
            .allSatisfy { entry in
                ["user::", "group::", "other::"].contains { entry.starts(with: $0.utf8) }
            }
    }
}

/// An extended attribute as libarchive writes it: its name percent-encoded, its value in base 64.
///
/// It writes most a second time with the prefix of star, the name encoded there too.
enum LibarchiveAttribute {
    static let prefix = [UInt8]("LIBARCHIVE.xattr.".utf8)

    /// The name as the record has it; `nil` if the record is of something else.
    static func encodedName(in key: [UInt8]) -> [UInt8]? {
        key.starts(with: prefix) ? [UInt8](key.dropFirst(prefix.count)) : nil
    }

    /// Reads an attribute; `nil` if its name or its value is malformed.
    static func decode(name encodedName: [UInt8], value: [UInt8]) -> ExtendedAttribute? {
        // libarchive leaves out the padding, which Foundation insists on.
        let padding = Data(repeating: UInt8(ascii: "="), count: (4 - value.count % 4) % 4)
        guard let name = decode(encodedName), let bytes = Data(base64Encoded: value + padding)
        else { return nil }
        return ExtendedAttribute(name: name, value: [UInt8](bytes))
    }

    private static func decode(_ encodedName: [UInt8]) -> [UInt8]? {
        var name: [UInt8] = []
        var rest = encodedName[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                name.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            name.append(value)
            rest = rest.dropFirst(2)
        }
        return name
    }
}
