internal import MigrationArchive

/// Headers of Android's tar dialect: ustar, with pax records for a path
/// and a size that don't fit (AOSP, backup_helper.cpp, write_tarfile).
enum AndroidHeader {
    private static let nameLimit = 100
    private static let prefixLimit = 155
    private static let largestSize: UInt64 = 0o77_777_777_777

    static func directory(
        in root: [UInt8],
        at path: EntryPath,
        permissions: UInt16,
        time: UInt64
    ) -> [UInt8] {
        header(
            in: root,
            at: path,
            size: 0,
            permissions: permissions,
            time: time,
            typeFlag: TypeFlag.directory
        )
    }

    static func file(
        in root: [UInt8],
        at path: EntryPath,
        size: UInt64,
        permissions: UInt16 = 0o600,
        time: UInt64 = 0
    ) -> [UInt8] {
        header(
            in: root,
            at: path,
            size: size,
            permissions: permissions,
            time: time,
            typeFlag: TypeFlag.regular
        )
    }

    /// The zeros between the end of a file and the next header.
    static func padding(for size: UInt64) -> [UInt8] {
        [UInt8](repeating: 0, count: Int((512 - size % 512) % 512))
    }

    private static func header(
        in root: [UInt8],
        at path: EntryPath,
        size: UInt64,
        permissions: UInt16,
        time: UInt64,
        typeFlag: UInt8
    ) -> [UInt8] {
        let whole = root + [UInt8(ascii: "/")] + path.bytes
        let isLong =
            path.bytes.count >= nameLimit || root.count >= prefixLimit
            || whole.contains { $0 >= 0x80 } || size > largestSize
        var bytes = isLong ? extendedHeader(of: whole, named: path.lastComponent, size: size) : []
        let fits = whole.count <= nameLimit
        let block = UstarBlock(
            name: fits ? whole[...] : path.bytes.prefix(nameLimit),
            prefix: fits ? [] : root.prefix(prefixLimit),
            permissions: permissions,
            size: min(size, largestSize),
            modificationTime: min(time, largestSize),
            typeFlag: typeFlag,
            linkName: []
        )
        bytes.append(block: block)
        return bytes
    }

    private static func extendedHeader(
        of path: [UInt8],
        named name: ArraySlice<UInt8>,
        size: UInt64
    ) -> [UInt8] {
        var records = PaxRecords()
        records.append(key: "size", value: [UInt8]("\(size)".utf8))
        records.append(key: "path", value: path)
        var content: [UInt8] = []
        records.encode(to: &content)
        let leaf = [UInt8]("PaxHeader/".utf8) + name
        let block = UstarBlock(
            name: leaf.prefix(nameLimit),
            prefix: [],
            permissions: 0o600,
            size: UInt64(content.count),
            modificationTime: 0,
            typeFlag: TypeFlag.extendedHeader,
            linkName: []
        )
        var bytes: [UInt8] = []
        bytes.append(block: block)
        return bytes + content + padding(for: UInt64(content.count))
    }
}
