internal import Foundation
public import MigrationArchive
package import MigrationSystem

/// Archives the items of a source tree, window by window, and collects the facts for the report.
///
/// An item is admitted when the walk reaches it; its content is read later, with its window.
package final class ItemArchiver {
    /// The operation that archives.
    package let operation: MigrationOperation

    private let writer: ArchiveWriter
    private var filler = WindowFiller()
    /// Fills windows with items that can't wait, so that the windows of all others stay full.
    private var urgentFiller = WindowFiller()
    /// Whether items are read before the append ends, because they may be gone afterwards.
    private var isUrgent = false
    /// The source's own directory, which has no entry.
    private var root: WalkedDirectory?

    /// The identity of the archive's own file, which the archive can't hold.
    private let outputIdentity: FileStatus.Identity?
    /// Reads the attributes of items.
    private let attributes: AttributeReader
    /// The user that root exports for, who must be able to read an item; `nil` if a user exports for itself.
    var reader: UserIdentity?

    private var links = HardLinkTable()
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
    /// The first 1,000 links that lead out of the container, printable.
    private(set) var externalLinks: [ExternalLink] = []
    /// The number of links that lead out of the container.
    private(set) var externalLinkCount = 0

    /// Archives with `writer`.
    package init(
        writingTo writer: ArchiveWriter,
        outputIdentity: FileStatus.Identity?,
        holding extra: ExtraMetadata = [],
        isStrict: Bool = false,
        on operation: MigrationOperation
    ) {
        (self.writer, self.outputIdentity, self.operation) = (writer, outputIdentity, operation)
        attributes = AttributeReader(holding: extra, isStrict: isStrict)
        notifyOfActivity {}
    }

    /// Calls `handler` after content was read.
    package func notifyOfActivity(_ handler: @escaping () -> Void) {
        writer.progressHandler = { [operation] in
            operation.progress?.completedUnitCount += Int64($0)
            handler()
        }
    }

    /// Turns on the rules for items that an extension appends: no path is archived twice, missing
    /// directories are made, and the archived files are remembered.
    package func checkPaths() {
        (paths, files) = (ArchivedPaths(), [])
    }

    /// Whether the archive holds the file under any name, because an extension appended it.
    package func holds(_ status: FileStatus) -> Bool {
        files?.contains(status.identity.hashValue) ?? false
    }

    /// Whether the file is the archive itself.
    package func isOutput(_ status: FileStatus) -> Bool { status.identity == outputIdentity }
}

// MARK: - Windows

extension ItemArchiver {
    /// Puts the entry of an item into a window; its content is read from `base`.
    private func put(
        _ kind: ArchiveEntry.Kind,
        at path: EntryPath,
        _ status: FileStatus,
        from base: SourceBase? = nil
    ) throws {
        let entry = ArchiveEntry(
            path: path,
            kind: kind,
            permissions: status.permissions,
            modificationTime: status.modificationTime,
            owner: attributes.extra.owner(of: status)
        )
        let item = WindowItem(
            entry: entry,
            source: base.map { WindowItem.Source(base: $0, status: status) }
        )
        try putImpliedDirectories(apartFrom: path)
        guard isUrgent else { return try write(filler.add(item)) }
        // The file that the link names may still be waiting.
        if case .hardLink = kind { try write(filler.takeAll()) }
        try write(urgentFiller.add(item))
    }

    /// Puts the directories that no extension appended itself into windows, except for those above `path`.
    private func putImpliedDirectories(apartFrom path: EntryPath?) throws {
        impliedDirectories.leave(for: path)
        while let entry = impliedDirectories.next() {
            try write(filler.add(WindowItem(entry: entry, source: nil)))
        }
    }

    /// Archives everything that is still waiting, after the last item.
    package func finish() throws {
        try putImpliedDirectories(apartFrom: nil)
        try write(filler.takeAll())
        try writer.settle()
        try root?.checkIsUnchanged()
    }

    private func write(_ items: [WindowItem]) throws {
        if !items.isEmpty { try writer.append(ItemWindow(items, attributes)) }
    }
}

// MARK: - Items by name

extension ItemArchiver {
    /// Appends the item at `location` under `name`: a file, a link, or a directory with its
    /// content.
    ///
    /// Files of the container are read later; their errors then end the export.
    ///
    /// - Returns: The bytes of content of a file; otherwise 0.
    /// - Throws: An error; the archive is unchanged only if ``entryCount`` is unchanged.
    package func appendItem(at location: SourceRoots.Location, as name: [UInt8]) throws -> UInt64 {
        isUrgent = location.kind != .container
        guard isUrgent else { return try takeItem(at: location, as: name) }
        try writer.readBeforeLayout()
        let size = try takeItem(at: location, as: name)
        try write(urgentFiller.takeAll())
        try writer.settle()
        return size
    }

    private func takeItem(
        at location: SourceRoots.Location,
        as name: [UInt8]
    ) throws -> UInt64 {
        let path = try Self.path(name)
        let base = SourceBase(location.root.directory, at: location.path, as: name)
        guard let itemName = location.name else {
            let status = try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status()
            }
            try takeDirectory(location.directory, status, at: location, from: base, as: path)
            return 0
        }
        let item = SourceItem(
            directory: location.directory,
            name: itemName,
            sourcePath: .known(name),
            status: try Self.reading(path) { () throws(SystemError) in
                try location.directory.descriptor.status(of: itemName)
            }
        )
        switch item.status.kind {
        case .regular, .symbolicLink:
            try admit(item, from: base)
            return item.status.kind == .regular ? item.status.size : 0
        case .directory:
            if try omitsUnreadable(item, bytes: item.status.size) { return 0 }
            let opened = try Self.reading(path) { () throws(SystemError) in
                try item.open(.directory)
            }
            try takeDirectory(opened, item.status, at: location, from: base, as: path)
            return 0
        default:
            let message = "can't be archived: a \(item.status.kind)"
            throw ArchiveError(.unrepresentable, message, entry: path)
        }
    }

    /// The path in the archive for an item that is appended as `name`.
    private static func path(_ name: [UInt8]) throws(MigrationError) -> EntryPath {
        let path = EntryPath(bytes: name)
        guard let violation = path.violation else { return path }
        throw MigrationError(.invalidPath, "can't be archived: \(violation)", path: BytePath(name))
    }

    private func takeDirectory(
        _ directory: OpenFile,
        _ status: FileStatus,
        at location: SourceRoots.Location,
        from base: SourceBase,
        as path: EntryPath
    ) throws {
        try claimDirectory(at: path, status)
        let isContainer = location.kind == .container && location.name == nil
        let bookkeeping = path.bytes + [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        var visitor = Visitor(
            archiver: self,
            base: base,
            bookkeeping: isContainer ? bookkeeping : nil
        )
        try SourceWalker.walk(directory, at: path.bytes, on: operation, visiting: &visitor)
    }

    private static func reading<Result: ~Copyable>(
        _ path: EntryPath,
        _ body: () throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        do {
            return try body()
        } catch {
            guard error.isMissing else { throw SourceWalker.unreadable(path.bytes, error) }
            throw ArchiveError(
                .sourceUnreadable,
                "there is no such item",
                entry: path,
                cause: error
            )
        }
    }
}

// MARK: - Everything in a directory

extension ItemArchiver {
    /// Appends everything in the container at `root` that `selection` keeps, each at its own path.
    func appendContents(
        of root: OpenFile,
        selecting selection: ContainerSelection,
        knowing known: KnownStatuses
    ) throws {
        let base = SourceBase(root, at: [], as: [])
        var visitor = Visitor(archiver: self, base: base, selection: selection, known: known)
        try SourceWalker.walk(root, on: operation, visiting: &visitor)
        try finish()
    }

    private struct Visitor: SourceVisitor {
        let archiver: ItemArchiver
        let base: SourceBase
        /// Chooses the items to archive; `nil` if all are archived.
        var selection: ContainerSelection?
        /// The path of the bookkeeping in a container that an extension appends.
        var bookkeeping: [UInt8]?
        var known: KnownStatuses?

        static var visitsRuns: Bool { true }

        func visit(_ run: FileRun) throws {
            let keepsAll = selection?.keepsAllFiles(in: run.path) ?? (bookkeeping == nil)
            let known = known?.take(run)
            try run.forEachStatus(known: known, on: archiver.operation) { index, status in
                let item = run.item(at: index, status)
                if keepsAll { try archiver.admit(item, from: base) } else { try visit(item) }
            }
        }

        func visit(_ item: SourceItem) throws {
            guard let reason = reasonForOmitting(item.path) else {
                return try archiver.admit(item, from: base)
            }
            let bytes = item.status.kind == .regular ? item.status.size : 0
            archiver.omit(Omission(path: item.path, reason: reason, bytes: bytes))
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            let path = item.path
            if let reason = reasonForOmitting(path, isDirectory: true) {
                let bytes = try archiver.measure(opened)
                archiver.omit(Omission(path: path, reason: reason, bytes: bytes))
                return false
            }
            if try archiver.omitsUnreadable(item, bytes: archiver.measure(opened)) {
                return false
            }
            try archiver.claimDirectory(at: EntryPath(bytes: path), item.status)
            return true
        }

        func leave(_ directory: WalkedDirectory) throws {
            guard !directory.path.isEmpty else { return archiver.root = directory }
            let path = EntryPath(bytes: directory.path)
            try archiver.put(.directory, at: path, directory.status, from: base)
        }

        func passesOver(_ item: SourceItem) throws -> Bool {
            guard let reason = reasonForOmitting(item.path, isDirectory: true) else { return false }
            // Its size is unknown.
            archiver.omit(Omission(path: item.path, reason: reason))
            return true
        }

        private func reasonForOmitting(
            _ path: [UInt8],
            isDirectory: Bool = false
        ) -> Omission.Reason? {
            if path == bookkeeping { return .leftOutByDefault }
            return selection?.reasonForOmitting(path, isDirectory: isDirectory)
        }
    }

    private func measure(_ directory: OpenFile) throws -> UInt64 {
        do {
            return try SourceMeasure.measure(directory, selecting: nil, on: operation).contentBytes
        } catch let error as ArchiveError where error.code != .damaged {
            // The directory is omitted anyway; the size of unreadable files stays uncounted.
            return 0
        }
    }
}

// MARK: - Admitting

extension ItemArchiver {
    /// Admits an item that is not a directory, or omits it.
    private func admit(_ item: SourceItem, from base: SourceBase) throws {
        let path = EntryPath(bytes: item.path)
        try path.checkIsRepresentable()
        switch item.status.kind {
        case .regular: try admitFile(item, at: path, from: base)
        case .symbolicLink: try admitSymbolicLink(item, at: path)
        default: try omitUnrepresentable(path, .specialFile, "\(item.status.kind)")
        }
    }

    private func admitFile(
        _ item: SourceItem,
        at path: EntryPath,
        from base: SourceBase
    ) throws {
        let (status, size) = (item.status, item.status.size)
        if try omitsUnreadable(item, bytes: size) { return }
        if isOutput(status) {
            let message = "the archive would contain itself: write it outside the container"
            throw MigrationError(.invalidOption, message, path: BytePath(path.bytes))
        }
        try claim(path, isDirectory: false, status)
        if let first = links.nextPath(of: status) {
            return try put(.hardLink(target: first), at: path, status)
        }
        remember(status, at: path)
        contentBytes.addSaturating(size)
        try put(.file(size: size), at: path, status, from: base)
    }

    private func admitSymbolicLink(_ item: SourceItem, at path: EntryPath) throws {
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
            return try put(.hardLink(target: first), at: path, item.status)
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
        remember(item.status, at: path)
        try put(.symbolicLink(target: target), at: path, item.status)
    }

    /// Remembers a file or link that is archived at `path` under the first of its names.
    private func remember(_ status: FileStatus, at path: EntryPath) {
        links.remember(status, at: path)
        files?.insert(status.identity.hashValue)
    }

    /// Claims the path of a directory, before its content is admitted.
    private func claimDirectory(at path: EntryPath, _ status: FileStatus) throws {
        try path.checkIsRepresentable()
        try claim(path, isDirectory: true, status)
    }

    /// Claims the path for an entry, and records the missing directories above it.
    private func claim(_ path: EntryPath, isDirectory: Bool, _ status: FileStatus) throws {
        if let missing = try paths?.insert(path, isDirectory: isDirectory) {
            entryCount += missing.count
            let owner = attributes.extra.owner(of: status)
            impliedDirectories.enter(path, missing: missing, (status.modificationTime, owner))
        }
        entryCount += 1
    }
}

// MARK: - Omissions

extension ItemArchiver {
    /// The omissions: those of the walk, then those of attributes.
    var omissions: OmissionList {
        var all = admissionOmissions
        all.append(attributes.omissions)
        return all
    }

    private func omit(_ omission: Omission) { admissionOmissions.append(omission) }

    private func omitUnrepresentable(
        _ path: EntryPath,
        _ reason: Omission.Reason,
        _ detail: String
    ) throws(ArchiveError) {
        omit(try attributes.omission(ofUnrepresentable: path.bytes, reason, detail))
    }

    /// Omits `item` if root can read it, but the user it exports for can't; returns whether it did.
    private func omitsUnreadable(
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
