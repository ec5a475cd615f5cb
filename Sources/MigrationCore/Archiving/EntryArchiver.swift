package import MigrationArchive
internal import MigrationSystem

/// Turns items of a source tree into entries of the archive, and collects the facts for the report.
///
/// An item is admitted when the walk reaches it; its content is read later, with its window.
package final class EntryArchiver {
    private var links = HardLinkTable()

    /// The identity of the archive's own file, which the archive can't hold.
    private let outputIdentity: FileStatus.Identity?

    /// Reads the attributes of items.
    let attributes: AttributeReader

    /// The extra metadata that the archive holds.
    private var extra: ExtraMetadata { attributes.extra }

    /// The user for whom root exports; `nil` if this process exports its own user's files.
    var reader: UserIdentity?

    /// Called after content was read.
    package var activityHandler: (() -> Void)?

    /// The paths in the archive, if an extension chooses them.
    private var paths: ArchivedPaths?

    private var impliedDirectories = ImpliedDirectories()

    /// Hashes of the identities of the files in the archive, if an extension chooses them; an export may have
    /// millions.
    private var files: Set<Int>?

    /// The number of entries admitted.
    package private(set) var entryCount = 0

    /// The bytes of content admitted.
    package private(set) var contentBytes: UInt64 = 0

    private var admissionOmissions = OmissionList()

    /// The omissions: those of the walk, then those of attributes.
    var omissions: OmissionList {
        var all = admissionOmissions
        all.append(attributes.omissions)
        return all
    }

    /// The first 1,000 links that lead out of the container, printable.
    private(set) var externalLinks: [ExternalLink] = []

    /// The number of links that lead out of the container.
    private(set) var externalLinkCount = 0

    init(_ attributes: AttributeReader, outputIdentity: FileStatus.Identity?) {
        (self.attributes, self.outputIdentity) = (attributes, outputIdentity)
    }

    /// Turns on the rules for items that an extension appends: no path is archived twice, missing
    /// directories are made, and the archived files are remembered.
    package func checkPaths() {
        (paths, files) = (ArchivedPaths(), [])
    }

    /// Whether an item that an extension appended is the file, under any name.
    package func holds(_ status: FileStatus) -> Bool {
        files?.contains(status.identity.hashValue) ?? false
    }

    /// Whether the file is the archive itself.
    package func isOutput(_ status: FileStatus) -> Bool { status.identity == outputIdentity }
}

// MARK: - Admitting

extension EntryArchiver {
    /// Admits an item that is not a directory; `nil` if it is left out.
    func admit(_ item: SourceItem, from base: SourceBase) throws -> WindowItem? {
        let path = EntryPath(bytes: item.path)
        try path.checkIsRepresentable()
        switch item.status.kind {
        case .regular: return try admitFile(item, at: path, from: base)
        case .symbolicLink:
            return WindowItem(entry: try admitSymbolicLink(item, at: path), source: nil)
        default:
            try omitUnrepresentable(path, .specialFile, "\(item.status.kind)")
            return nil
        }
    }

    private func admitFile(
        _ item: SourceItem,
        at path: EntryPath,
        from base: SourceBase
    ) throws -> WindowItem? {
        let (status, size) = (item.status, item.status.size)
        if try omitsUnreadable(item, bytes: size) { return nil }
        if isOutput(status) {
            let message = "the archive would contain itself: write it outside the container"
            throw MigrationError(.invalidOption, message, path: BytePath(path.bytes))
        }
        try claim(path, isDirectory: false, status)
        if let first = links.nextPath(of: status) {
            let entry = self.entry(status, at: path, .hardLink(target: first))
            return WindowItem(entry: entry, source: nil)
        }
        links.remember(status, at: path)
        files?.insert(status.identity.hashValue)
        contentBytes.addSaturating(size)
        return WindowItem(
            entry: self.entry(status, at: path, .file(size: size)),
            source: WindowItem.Source(base: base, status: status)
        )
    }

    private func admitSymbolicLink(_ item: SourceItem, at path: EntryPath) throws -> ArchiveEntry {
        let (directory, name) = (item.directory, [UInt8](item.name))
        let (target, attributes, after) = try SourceWalker.reading(path.bytes) {
            () throws(SystemError) in
            let target = try directory.descriptor.symbolicLinkTarget(name)
            let attributes: [[UInt8]]
            do throws(SystemError) {
                attributes = try directory.descriptor.extendedAttributeNames(ofLink: name)
            } catch {
                attributes = try FileAttributes.unlisted(error)
            }
            return (target, attributes, try directory.descriptor.status(of: name))
        }
        guard after.isUnchanged(since: item.status) else { throw SourceItem.changed(path.bytes) }
        try claim(path, isDirectory: false, item.status)
        if let first = links.nextPath(of: item.status) {
            return self.entry(item.status, at: path, .hardLink(target: first))
        }
        // An archive doesn't hold attributes of links: the system allows `user.*` only for files.
        for name in attributes {
            try omitUnrepresentable(path, .extendedAttribute, PrintableText.escaping(name))
        }
        if path.leadsOut(withTarget: target) {
            externalLinkCount += 1
            if externalLinks.count < 1_000 {
                externalLinks.append(ExternalLink(path: path, target: target))
            }
        }
        links.remember(item.status, at: path)
        files?.insert(item.status.identity.hashValue)
        return self.entry(item.status, at: path, .symbolicLink(target: target))
    }

    /// Claims the path of a directory, before its content is admitted.
    func claimDirectory(at path: EntryPath, _ status: FileStatus) throws {
        try path.checkIsRepresentable()
        try claim(path, isDirectory: true, status)
    }

    /// Admits a directory whose path was claimed, after its content.
    func admitDirectory(_ directory: WalkedDirectory, from base: SourceBase) -> WindowItem {
        WindowItem(
            entry: self.entry(directory.status, at: EntryPath(bytes: directory.path), .directory),
            source: WindowItem.Source(base: base, status: directory.status)
        )
    }

    /// Claims the path for an entry, and records the missing directories above it.
    private func claim(_ path: EntryPath, isDirectory: Bool, _ status: FileStatus) throws {
        if let missing = try paths?.insert(path, isDirectory: isDirectory) {
            entryCount += missing.count
            impliedDirectories.enter(
                path,
                missing: missing,
                (status.modificationTime, extra.owner(of: status))
            )
        }
        entryCount += 1
    }

    /// Takes the next directory that was not appended itself and that `path` is not in, the deepest first.
    func takeImpliedDirectory(apartFrom path: EntryPath?) -> WindowItem? {
        impliedDirectories.leave(for: path)
        return impliedDirectories.next().map { WindowItem(entry: $0, source: nil) }
    }

    private func entry(
        _ status: FileStatus,
        at path: EntryPath,
        _ kind: ArchiveEntry.Kind
    ) -> ArchiveEntry {
        ArchiveEntry(
            path: path,
            kind: kind,
            permissions: status.permissions,
            modificationTime: status.modificationTime,
            owner: extra.owner(of: status)
        )
    }
}

// MARK: - Omissions

extension EntryArchiver {
    /// Adds `omission` to the report.
    func omit(_ omission: Omission) { admissionOmissions.append(omission) }

    private func omitUnrepresentable(
        _ path: EntryPath,
        _ reason: Omission.Reason,
        _ detail: String
    ) throws(ArchiveError) {
        omit(try attributes.omission(ofUnrepresentable: path.bytes, reason, detail))
    }

    /// Omits `item` if root can read it, but the user it exports for can't; returns whether it did.
    func omitsUnreadable(
        _ item: SourceItem,
        bytes: @autoclosure () throws -> UInt64
    ) throws -> Bool {
        guard let reader else { return false }
        let isReadable = try SourceWalker.reading(item.path) { () throws(SystemError) in
            let name = [UInt8](item.name)
            return try reader.mayRead(name, in: item.directory.descriptor, status: item.status)
        }
        if isReadable { return false }
        guard !attributes.isStrict else {
            let message = "the container's owner, \(reader.text), can't read it"
            throw ArchiveError(.sourceUnreadable, message, entry: EntryPath(bytes: item.path))
        }
        omit(Omission(path: item.path, reason: .unreadableToOwner, bytes: try bytes()))
        return true
    }
}

// MARK: - Links that lead out

/// A symbolic link that leads out of the container it was exported from.
public struct ExternalLink: Hashable, Sendable, CustomStringConvertible {
    /// The path of the link in the container.
    public let path: EntryPath

    /// The bytes of its target.
    public let target: [UInt8]

    /// The path and the target, in a form that is safe to print.
    public var description: String { "\(path) -> \(PrintableText.escaping(target))" }
}

// MARK: - Hard links

/// The first archived path of each file with several names, until its last name was seen.
private struct HardLinkTable {
    private struct Slot {
        let path: EntryPath
        var remaining: UInt64
    }

    private var slots: [FileStatus.Identity: Slot] = [:]

    /// The path under which the file was archived; `nil` for the first of its names.
    mutating func nextPath(of status: FileStatus) -> EntryPath? {
        guard status.linkCount > 1, var slot = slots[status.identity] else { return nil }
        slot.remaining -= 1
        slots[status.identity] = slot.remaining > 0 ? slot : nil
        return slot.path
    }

    /// Records that the first name of the file is archived at `path`.
    mutating func remember(_ status: FileStatus, at path: EntryPath) {
        guard status.linkCount > 1 else { return }
        slots[status.identity] = Slot(path: path, remaining: status.linkCount - 1)
    }
}

// MARK: - Implied directories

/// The directories that an extension did not append itself, only items in them.
///
/// Such a directory gets its entry when the next item is outside it. Only one path is kept for all
/// directories above an item, because a deep item has thousands.
private struct ImpliedDirectories {
    private struct Directory {
        /// The length of the directory's own path.
        let length: Int
        let time: FileTime
        let owner: FileOwner?
    }

    /// The last item, and the directories above it, from the root down.
    private var path: [UInt8] = []
    private var entered: [Directory] = []
    /// The directories that were left and have no entry yet.
    private var left: [(path: [UInt8], directories: [Directory])] = []

    /// Moves to the item at `path`; the directories above it whose paths have these lengths have no entry.
    mutating func enter(
        _ path: EntryPath,
        missing lengths: [Int],
        _ item: (time: FileTime, owner: FileOwner?)
    ) {
        guard !lengths.isEmpty else { return }
        leave(for: path)
        self.path = path.bytes
        entered += lengths.map {
            Directory(length: $0, time: item.time, owner: item.owner)
        }
    }

    /// Leaves the directories that don't contain `path`; for `nil`, all of them.
    mutating func leave(for path: EntryPath?) {
        guard let last = entered.last, path.map({ !lies($0, in: last) }) ?? true else { return }
        let kept = entered.prefix { directory in path.map { lies($0, in: directory) } ?? false }
        left.append((self.path, Array(entered[kept.count...])))
        entered.removeSubrange(kept.count...)
    }

    private func lies(_ item: EntryPath, in directory: Directory) -> Bool {
        let bytes = item.bytes
        guard bytes.count >= directory.length,
            bytes.count == directory.length || bytes[directory.length] == UInt8(ascii: "/")
        else { return false }
        return bytes[..<directory.length] == path[..<directory.length]
    }

    /// Takes the next directory that was left, the deepest first.
    mutating func next() -> ArchiveEntry? {
        while let first = left.first, first.directories.isEmpty { left.removeFirst() }
        guard !left.isEmpty, let directory = left[0].directories.popLast() else { return nil }
        return ArchiveEntry(
            path: EntryPath(bytes: [UInt8](left[0].path[..<directory.length])),
            kind: .directory,
            permissions: 0o755,
            modificationTime: directory.time,
            owner: directory.owner
        )
    }
}
