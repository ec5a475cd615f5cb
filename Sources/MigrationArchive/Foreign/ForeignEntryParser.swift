internal import MigrationSystem

/// Turns the headers of another program's tar entry into an entry that is safe to restore.
struct ForeignEntryParser {
    /// Why an entry is refused.
    struct Problem: Error {
        let reason: String
        /// Whether the bytes themselves are wrong, rather than the entry that they describe.
        let isMalformed: Bool

        init(malformed reason: String) {
            self.reason = reason
            isMalformed = true
        }

        init(refused reason: String) {
            self.reason = reason
            isMalformed = false
        }
    }

    private let block: UstarBlock
    private let headers: ForeignHeaders
    private let globalTime: ForeignHeaderReader.GlobalTime?
    private let typeFlag: UInt8
    /// The extra metadata that entries get.
    private let extra: ExtraMetadata

    init(
        block: UstarBlock,
        headers: ForeignHeaders,
        globalTime: ForeignHeaderReader.GlobalTime?,
        holding extra: ExtraMetadata
    ) {
        self.extra = extra
        self.block = block
        self.headers = headers
        self.globalTime = globalTime
        typeFlag = block[UstarBlock.Field.typeFlag]
    }

    /// The name as it is in the file, for errors.
    var rawPath: [UInt8] {
        if let path = headers.path { return path }
        let name = block.text(at: UstarBlock.Field.name)
        let prefix = block.isPOSIX ? block.text(at: UstarBlock.Field.prefix) : []
        return prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name
    }

    /// Whether the name ends with `/`, as only those of directories do.
    private var isDirectoryName: Bool { rawPath.last == UInt8(ascii: "/") }

    /// The entry's path without `.` components and doubled slashes; `nil` for the root itself.
    func path() throws(Problem) -> EntryPath? {
        let raw = rawPath
        guard !raw.isEmpty else { throw Problem(malformed: "the path is empty") }
        return try Self.cleaned(raw)
    }

    /// Drops `.` components and doubled slashes; the rest must be valid in a path of an entry.
    private static func cleaned(_ raw: [UInt8]) throws(Problem) -> EntryPath? {
        if raw.contains(0) { throw Problem(malformed: "the path holds a zero byte") }
        if raw.first == UInt8(ascii: "/") { throw Problem(refused: "the path is absolute") }
        let components = raw.split(separator: UInt8(ascii: "/"))
            .filter { !$0.elementsEqual(".".utf8) }
        if components.isEmpty { return nil }
        let path = EntryPath(bytes: [UInt8](components.joined(separator: [UInt8(ascii: "/")])))
        if let violation = path.violation { throw Problem(refused: violation) }
        return path
    }
}

// MARK: - Fields

extension ForeignEntryParser {
    /// The bytes that follow the header; directories and links have none, whatever size they claim.
    func storedSize() throws(Problem) -> UInt64 {
        let size = try claimedSize()
        switch typeFlag {
        case TypeFlag.directory, TypeFlag.symbolicLink, TypeFlag.hardLink: return 0
        default: return size
        }
    }

    /// The size in the header, also for an entry that has no content.
    func claimedSize() throws(Problem) -> UInt64 {
        if let text = headers.value(PaxKey.size) {
            guard let size = PaxKey.number(text) else {
                throw Problem(malformed: "the size is not a number")
            }
            return try checked(size)
        }
        guard let size = block.number(at: UstarBlock.Field.size), size >= 0 else {
            throw Problem(malformed: "the size is not a number")
        }
        return try checked(UInt64(size))
    }

    private func checked(_ size: UInt64) throws(Problem) -> UInt64 {
        guard size <= UInt64(Int64.max) - 1024 else {
            throw Problem(malformed: "the size is absurd")
        }
        return size
    }

    func kind(size: UInt64) throws(Problem) -> ArchiveEntry.Kind {
        switch typeFlag {
        case TypeFlag.regular, TypeFlag.regularOfOldTar, TypeFlag.contiguous, TypeFlag.gnuSparse:
            guard isDirectoryName else { return .file(size: size) }
            guard size == 0 else { throw Problem(refused: "a directory that has content") }
            return .directory
        case TypeFlag.directory: return .directory
        case TypeFlag.symbolicLink:
            let target = headers.linkPath ?? block.text(at: UstarBlock.Field.linkName)
            if let violation = PathRules.violation(ofLinkTarget: target) {
                throw Problem(malformed: violation)
            }
            return .symbolicLink(target: target)
        case TypeFlag.hardLink:
            let target = headers.linkPath ?? block.text(at: UstarBlock.Field.linkName)
            return .hardLink(target: try hardLinkTarget(target))
        default: throw Problem(refused: Self.reason(forRefusing: typeFlag))
        }
    }

    private func hardLinkTarget(_ target: [UInt8]) throws(Problem) -> EntryPath {
        if target.isEmpty { throw Problem(malformed: "the hard link leads nowhere") }
        do throws(Problem) {
            guard let path = try Self.cleaned(target) else {
                throw Problem(refused: "a hard link to the root")
            }
            return path
        } catch {
            throw error.isMalformed
                ? error : Problem(refused: "a hard link's target: \(error.reason)")
        }
    }

    /// The kinds of entries after which nothing is read.
    static let refusedKinds = [
        "a device", "a FIFO", "an incremental backup's directory",
        "a part of a multi-volume archive", "an entry of an unsupported kind",
    ]

    private static func reason(forRefusing typeFlag: UInt8) -> String {
        switch typeFlag {
        case TypeFlag.characterDevice, TypeFlag.blockDevice: refusedKinds[0]
        case TypeFlag.fifo: refusedKinds[1]
        case TypeFlag.gnuDumpDirectory: refusedKinds[2]
        case TypeFlag.gnuMultiVolume: refusedKinds[3]
        default: "\(refusedKinds[4]) ('\(PrintableText.escaping([typeFlag]))')"
        }
    }

    func permissions() throws(Problem) -> UInt16 {
        guard let mode = block.number(at: UstarBlock.Field.mode) else {
            throw Problem(malformed: "the mode is not a number")
        }
        return UInt16(truncatingIfNeeded: mode & 0o7777)
    }

    func modificationTime() throws(Problem) -> FileTime {
        let malformation = Problem(malformed: "the modification time is not a number")
        if let text = headers.value(PaxKey.modificationTime) {
            guard let time = PaxTime.decode(text) else { throw malformation }
            return time
        }
        switch headers.isCleared(PaxKey.modificationTime) ? nil : globalTime {
        case .time(let time): return time
        case .malformed: throw malformation
        case nil: break
        }
        // AIX's tar puts a zero byte before the time of a link to blank it.
        if block[UstarBlock.Field.modificationTime.lowerBound] == 0 { return FileTime(seconds: 0) }
        guard let seconds = block.number(at: UstarBlock.Field.modificationTime) else {
            throw malformation
        }
        return FileTime(seconds: seconds)
    }

    /// The attributes that may be restored (none for links), and the names of those that may not.
    ///
    /// A hard link has those of its file; libarchive repeats them.
    func attributes(
        of kind: ArchiveEntry.Kind
    ) throws(Problem) -> (kept: [ExtendedAttribute], dropped: [[UInt8]]) {
        var kept: [ExtendedAttribute] = []
        let lists = extra.contains(.accessLists) ? headers.accessLists : []
        var dropped: [[UInt8]] = []
        // GNU tar may write a list a second time, as the kernel's attribute.
        var restorableLists: [AccessList.Kind] = []
        for attribute in headers.attributes(besides: lists) {
            let name = attribute.name
            let isRestorable =
                extra.includesAttribute(name) && !name.contains(0) && attribute.isSettable
            if isRestorable, !kind.isSymbolicLink {
                restorableLists += AccessList.Kind(attributeName: name).map { [$0] } ?? []
            }
            if isRestorable, case .hardLink = kind { continue }
            if isRestorable, !kind.isLink {
                if let violation = PathRules.violation(ofAttributeName: name) {
                    throw Problem(refused: violation)
                }
                kept.append(attribute)
            } else {
                dropped.append(name)
            }
        }
        dropped = headers.unrestoredKeywords(besides: restorableLists) + dropped
        return (kept, dropped)
    }

    /// The owner; `nil` if owners are not restored.
    func owner() throws(Problem) -> FileOwner? {
        guard extra.contains(.owners) else { return nil }
        let user = try number(PaxKey.user, at: UstarBlock.Field.userID)
        let group = try number(PaxKey.group, at: UstarBlock.Field.groupID)
        let owner = FileOwner(user: user, group: group)
        guard owner.isStorable else { throw Problem(malformed: "the owner is not a number") }
        return owner
    }

    private func number(_ key: [UInt8], at field: Range<Int>) throws(Problem) -> UInt32 {
        let number =
            if let text = headers.value(key) {
                RecordedMetadata.number(text)
            } else {
                block.number(at: field).flatMap { UInt32(exactly: $0) }
            }
        guard let number else { throw Problem(malformed: "the owner is not a number") }
        return number
    }
}

extension ArchiveError {
    /// Whether the input is of a kind that is not restored, in part or at all, however it is read.
    package var isOfRefusedKind: Bool {
        code == .refused
            && (entry == nil || ForeignEntryParser.refusedKinds.contains(where: message.hasPrefix))
    }
}
