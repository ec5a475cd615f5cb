internal import MigrationSystem

/// Turns entries into header blocks, always the same ones for the same entry.
///
/// An entry is a ustar header; an extended header stands before it only where ustar can't say what
/// has to be said. There is one way to write each entry, and readers hold archives to it.
struct TarEntryEncoder {
    /// An entry that no header can describe.
    struct Unrepresentable: Error {
        let reason: String
    }

    /// Appends the headers of `entry` to `output`, in whole blocks.
    func encode(_ entry: ArchiveEntry, to output: inout [UInt8]) throws(Unrepresentable) {
        var records = PaxRecords()
        let name = Self.storedName(of: entry)
        let link = Self.linkName(of: entry)
        let split = Self.splitName(name)
        let linkFits = link.count <= 100 && Self.isASCII(link)
        if split == nil && !Self.isUTF8(name) || !linkFits && !Self.isUTF8(link) {
            records.append("hdrcharset", [UInt8]("BINARY".utf8))
        }
        if split == nil { records.append("path", name) }
        if !linkFits { records.append("linkpath", link) }
        let sizeFits = entry.contentSize <= TarFormat.largestOctal
        if !sizeFits { records.append("size", [UInt8](String(entry.contentSize).utf8)) }
        let seconds = Self.ustarTime(entry.modificationTime)
        if seconds == nil { records.append("mtime", PaxTime.encode(entry.modificationTime)) }
        for attribute in entry.extendedAttributes {
            records.append(key: Self.recordKey(of: attribute.name), value: attribute.value)
        }
        if !records.isEmpty {
            try encodeExtended(records, typeFlag: TypeFlag.extendedHeader, to: &output)
        }
        let header = UstarBlock(
            name: split?.name ?? Self.placeholder(for: name)[...],
            prefix: split?.prefix ?? [],
            permissions: entry.permissions,
            size: sizeFits ? entry.contentSize : 0,
            modificationTime: seconds ?? Self.clampedTime(entry.modificationTime),
            typeFlag: Self.typeFlag(of: entry.kind),
            linkName: linkFits ? link : Self.placeholder(for: link)
        )
        output.append(block: header)
    }

    /// Appends an extended or global header that carries `records`.
    func encodeExtended(
        _ records: PaxRecords,
        typeFlag: UInt8,
        to output: inout [UInt8]
    ) throws(Unrepresentable) {
        var body: [UInt8] = []
        records.encode(to: &body)
        guard body.count <= TarFormat.recordLimit else {
            throw Unrepresentable(reason: "its names and attributes take more than 1 MiB")
        }
        let isGlobal = typeFlag == TypeFlag.globalHeader
        let header = UstarBlock(
            name: (isGlobal ? "pax_global_header" : "PaxHeader").utf8,
            prefix: EmptyCollection(),
            permissions: 0o644,
            size: UInt64(body.count),
            modificationTime: 0,
            typeFlag: typeFlag,
            linkName: EmptyCollection()
        )
        output.append(block: header)
        output.append(contentsOf: body)
        let padding = TarFormat.padded(body.count) - body.count
        output.append(contentsOf: repeatElement(0, count: padding))
    }
}

// MARK: - Fields

extension TarEntryEncoder {
    private static func typeFlag(of kind: ArchiveEntry.Kind) -> UInt8 {
        switch kind {
        case .file: TypeFlag.regular
        case .directory: TypeFlag.directory
        case .symbolicLink: TypeFlag.symbolicLink
        case .hardLink: TypeFlag.hardLink
        }
    }

    private static func storedName(of entry: ArchiveEntry) -> [UInt8] {
        entry.kind == .directory ? entry.path.bytes + [UInt8(ascii: "/")] : entry.path.bytes
    }

    private static func linkName(of entry: ArchiveEntry) -> [UInt8] {
        switch entry.kind {
        case .symbolicLink(let target): target
        case .hardLink(let target): target.bytes
        case .file, .directory: []
        }
    }

    /// Splits a name over ustar's two fields at the first slash that leaves both short enough.
    private static func splitName(
        _ name: [UInt8]
    ) -> (prefix: ArraySlice<UInt8>, name: ArraySlice<UInt8>)? {
        guard isASCII(name) else { return nil }
        if name.count <= 100 { return ([], name[...]) }
        guard name.count <= 256 else { return nil }
        for index in (name.count - 101)..<min(156, name.count - 1)
        where index > 0 && name[index] == UInt8(ascii: "/") {
            return (name[..<index], name[(index + 1)...])
        }
        return nil
    }

    /// What an old reader sees of a name that only the extended header holds.
    private static func placeholder(for name: [UInt8]) -> [UInt8] {
        name.prefix(100).map { $0 < 0x80 ? $0 : UInt8(ascii: "_") }
    }

    private static func ustarTime(_ time: FileTime) -> UInt64? {
        guard time.nanoseconds == 0, time.seconds >= 0 else { return nil }
        let seconds = UInt64(time.seconds)
        return seconds <= TarFormat.largestOctal ? seconds : nil
    }

    private static func clampedTime(_ time: FileTime) -> UInt64 {
        UInt64(min(max(0, time.seconds), Int64(TarFormat.largestOctal)))
    }

    /// The record that carries an attribute; `%` and `=` are escaped as GNU tar does.
    private static func recordKey(of name: [UInt8]) -> [UInt8] {
        var key = [UInt8]("SCHILY.xattr.".utf8)
        for byte in name {
            switch byte {
            case UInt8(ascii: "%"): key += "%25".utf8
            case UInt8(ascii: "="): key += "%3D".utf8
            default: key.append(byte)
            }
        }
        return key
    }

    private static func isASCII(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 < 0x80 }
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }
}
