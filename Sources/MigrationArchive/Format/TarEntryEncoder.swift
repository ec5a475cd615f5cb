internal import MigrationSystem

/// Turns entries into header blocks, always the same for the same entry.
///
/// Headers hold times in whole seconds; an ``EntryMark`` has the rest.
///
/// An entry is a ustar header; an extended header precedes it only if ustar can't express what is
/// needed. Each entry has exactly one encoding, and the strict reader accepts only that.
struct TarEntryEncoder {
    /// Appends the headers of `entry` to `output`, in whole blocks.
    ///
    /// - Throws: ``ArchiveError`` of code `unrepresentable` if they would be longer than readers allow.
    func encode(_ entry: ArchiveEntry, to output: inout [UInt8]) throws(ArchiveError) {
        let fields = Fields(of: entry)
        if fields.needRecords(for: entry) {
            let size = appendExtended(TypeFlag.extendedHeader, to: &output) { output in
                fields.appendRecords(for: entry, to: &output)
            }
            guard size <= TarFormat.recordLimit else {
                let message =
                    "can't be archived: its names and attributes take more than 1 MiB"
                throw ArchiveError(.unrepresentable, message, entry: entry.path)
            }
        }
        output.append(block: fields.block(of: entry))
    }

    /// The fields of an entry's header, and whether each value fits.
    private struct Fields: ~Copyable {
        private let name: [UInt8]
        private let link: [UInt8]
        /// Where the name is cut in two; `nil` if it doesn't fit.
        private let cut: Int?
        private let linkFits: Bool
        private let sizeFits: Bool
        /// The time in the header's own field, which holds no time before 1970.
        private let seconds: UInt64
        private let timeFits: Bool

        init(of entry: ArchiveEntry) {
            name = storedName(of: entry)
            link = linkName(of: entry)
            cut = cutOfName(name)
            linkFits = link.isEmpty || link.count <= 100 && isPlain(link)
            sizeFits = entry.contentSize <= TarFormat.largestOctal
            let time = entry.modificationTime.seconds
            seconds = UInt64(min(max(0, time), Int64(TarFormat.largestOctal)))
            timeFits = Int64(seconds) == time
        }

        /// Whether an extended header is needed.
        func needRecords(for entry: ArchiveEntry) -> Bool {
            cut == nil || !linkFits || !sizeFits || !timeFits || !fits(entry.owner?.user)
                || !fits(entry.owner?.group) || !entry.extendedAttributes.isEmpty
        }

        func appendRecords(for entry: ArchiveEntry, to output: inout [UInt8]) {
            if cut == nil && !isUTF8(name) || !linkFits && !isUTF8(link) {
                PaxRecords.append(key: PaxKey.headerCharacterSet, value: binary, to: &output)
            }
            if cut == nil { PaxRecords.append(key: PaxKey.path, value: name, to: &output) }
            if !linkFits { PaxRecords.append(key: PaxKey.linkPath, value: link, to: &output) }
            if !sizeFits { append(PaxKey.size, entry.contentSize, to: &output) }
            if !timeFits {
                let time = PaxTime.encode(seconds: entry.modificationTime.seconds)
                PaxRecords.append(key: PaxKey.modificationTime, value: time, to: &output)
            }
            if let owner = entry.owner {
                if !fits(owner.user) { append(PaxKey.user, UInt64(owner.user), to: &output) }
                if !fits(owner.group) { append(PaxKey.group, UInt64(owner.group), to: &output) }
            }
            append(entry.extendedAttributes, to: &output)
        }

        func block(of entry: ArchiveEntry) -> UstarBlock {
            UstarBlock(
                name: cut.map { $0 == 0 ? name[...] : name[($0 + 1)...] }
                    ?? placeholder(for: name)[...],
                prefix: name[..<(cut ?? 0)],
                permissions: entry.permissions,
                size: sizeFits ? entry.contentSize : 0,
                modificationTime: seconds,
                typeFlag: typeFlag(of: entry.kind),
                linkName: linkFits ? link[...] : placeholder(for: link)[...],
                owner: entry.owner.map {
                    FileOwner(user: field($0.user), group: field($0.group))
                }
            )
        }
    }

    /// Whether the header's own field can hold the number of a user or a group.
    private static func fits(_ number: UInt32?) -> Bool {
        number ?? 0 <= TarFormat.largestOwner
    }

    /// The value of the header's own field: 0 if a record holds the number.
    private static func field(_ number: UInt32) -> UInt32 { fits(number) ? number : 0 }

    private static func append(_ key: [UInt8], _ number: UInt64, to output: inout [UInt8]) {
        var digits: [UInt8] = []
        digits.append(decimal: number)
        PaxRecords.append(key: key, value: digits, to: &output)
    }

    /// Appends an extended or global header that carries `records`.
    func encodeExtended(
        _ records: PaxRecords,
        typeFlag: UInt8,
        to output: inout [UInt8]
    ) {
        appendExtended(typeFlag, to: &output) { records.encode(to: &$0) }
    }

    /// Appends the header first and fills it in after `appendRecords` has appended the records; returns their size.
    @discardableResult
    private func appendExtended(
        _ typeFlag: UInt8,
        to output: inout [UInt8],
        _ appendRecords: (inout [UInt8]) -> Void
    ) -> Int {
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: TarFormat.blockSize))
        appendRecords(&output)
        let count = output.count - start - TarFormat.blockSize
        output.append(contentsOf: repeatElement(0, count: TarFormat.padded(count) - count))
        let isGlobal = typeFlag == TypeFlag.globalHeader
        let header = UstarBlock(
            name: (isGlobal ? Self.globalHeaderName : Self.extendedHeaderName)[...],
            prefix: [],
            permissions: 0o644,
            size: UInt64(count),
            modificationTime: 0,
            typeFlag: typeFlag,
            linkName: []
        )
        output.replaceBlock(at: start, with: header)
        return count
    }
}

// MARK: - Fields

extension TarEntryEncoder {
    private static let globalHeaderName = [UInt8]("pax_global_header".utf8)
    private static let extendedHeaderName = [UInt8]("PaxHeader".utf8)
    private static let binary = [UInt8]("BINARY".utf8)

    private static func typeFlag(of kind: ArchiveEntry.Kind) -> UInt8 {
        switch kind {
        case .file: TypeFlag.regular
        case .directory: TypeFlag.directory
        case .symbolicLink: TypeFlag.symbolicLink
        case .hardLink: TypeFlag.hardLink
        }
    }

    private static func storedName(of entry: ArchiveEntry) -> [UInt8] {
        entry.kind.isDirectory ? entry.path.bytes + [UInt8(ascii: "/")] : entry.path.bytes
    }

    private static func linkName(of entry: ArchiveEntry) -> [UInt8] {
        switch entry.kind {
        case .symbolicLink(let target): target
        case .hardLink(let target): target.bytes
        case .file, .directory: []
        }
    }

    /// The first slash at which the name can be split into ustar's two fields; 0 for a name that
    /// fits into one.
    static func cutOfName(_ name: [UInt8]) -> Int? {
        guard isPlain(name) else { return nil }
        if name.count <= 100 { return 0 }
        guard name.count <= 256 else { return nil }
        for index in (name.count - 101)..<min(156, name.count - 1)
        where index > 0 && name[index] == UInt8(ascii: "/") {
            return index
        }
        return nil
    }

    /// The name for old readers, if the real one is only in the extended header.
    private static func placeholder(for name: [UInt8]) -> [UInt8] {
        name.prefix(100).map { $0 < 0x80 ? $0 : UInt8(ascii: "_") }
    }

    /// Appends the records for `attributes`, including access control lists.
    static func append(_ attributes: [ExtendedAttribute], to output: inout [UInt8]) {
        for attribute in attributes {
            if let kind = AccessList.Kind(attributeName: attribute.name) {
                // The writer and the reader have already checked it.
                let text = AccessList(attributeValue: attribute.value)?.text ?? []
                PaxRecords.append(key: kind.keyword, value: text, to: &output)
            } else {
                PaxRecords.append(
                    key: recordKey(of: attribute.name),
                    value: attribute.value,
                    to: &output
                )
            }
        }
    }

    /// Appends the records of an owner, whatever the numbers are.
    static func append(_ owner: FileOwner, to output: inout [UInt8]) {
        append(PaxKey.user, UInt64(owner.user), to: &output)
        append(PaxKey.group, UInt64(owner.group), to: &output)
    }

    /// The key of an attribute's record; `%` and `=` are escaped as in GNU tar.
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
        var seen: UInt8 = 0
        for byte in bytes { seen |= byte }
        return seen < 0x80
    }

    /// Whether ustar's fields may hold `name`: readers agree on ASCII, and on bytes that are not UTF-8,
    /// for which an extended header would need a character set that GNU tar does not know.
    static func isPlain(_ name: [UInt8]) -> Bool {
        isASCII(name) || !isUTF8(name)
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }
}
