internal import Foundation
internal import MigrationSystem

/// A file, directory or symbolic link of a client, with the entry that describes it.
struct ArchivableFile: ~Copyable {
    let entry: ArchiveEntry
    private let status: FileStatus
    /// The open file or directory; `nil` for a link.
    private let opened: OpenFile?

    /// The open file; `nil` if there is no content.
    var content: OpenFile? { entry.contentSize > 0 ? opened : nil }

    /// Opens the file at `url`, whose path in the archive is `path`.
    static func open(
        _ url: URL,
        as path: EntryPath,
        holding extra: ExtraMetadata
    ) throws(ArchiveError) -> ArchivableFile {
        let file: ArchivableFile?
        do throws(SystemError) {
            file = try make(BytePath(resolving: BytePath(of: url)), as: path, extra)
        } catch {
            throw ArchiveError(.sourceUnreadable, "can't be read", entry: path, cause: error)
        }
        guard let file else {
            let message = "can't be archived: neither a file nor a directory nor a link"
            throw ArchiveError(.unrepresentable, message, entry: path)
        }
        return file
    }

    private static func make(
        _ source: BytePath,
        as path: EntryPath,
        _ extra: ExtraMetadata
    ) throws(SystemError) -> ArchivableFile? {
        let directory = try FileDescriptor.open(source.parent, .directory)
        let listed = try directory.status(of: source.lastComponent)
        if listed.kind == .symbolicLink {
            let target = try directory.symbolicLinkTarget(source.lastComponent)
            return ArchivableFile(listed, extra, at: path, kind: .symbolicLink(target: target))
        }
        guard listed.kind == .regular || listed.kind == .directory else { return nil }
        let access: FileDescriptor.Access = listed.kind == .directory ? .directory : .reading
        let opened = OpenFile(try directory.open(source.lastComponent, access))
        // Another file may have taken the name since.
        let status = try opened.descriptor.status()
        guard status.kind == listed.kind else { return nil }
        let attributes = try opened.descriptor.extendedAttributes()
            .filter { extra.includesAttribute($0.name) }
        let kind: ArchiveEntry.Kind =
            status.kind == .directory ? .directory : .file(size: status.size)
        return ArchivableFile(
            status,
            extra,
            at: path,
            kind: kind,
            attributes: attributes,
            opened: opened
        )
    }

    private init(
        _ status: FileStatus,
        _ extra: ExtraMetadata,
        at path: EntryPath,
        kind: ArchiveEntry.Kind,
        attributes: [ExtendedAttribute] = [],
        opened: OpenFile? = nil
    ) {
        self.status = status
        self.opened = opened
        entry = ArchiveEntry(
            path: path,
            kind: kind,
            permissions: status.permissions,
            modificationTime: status.modificationTime,
            extendedAttributes: attributes,
            owner: extra.owner(of: status)
        )
    }

    /// Throws if the file changed since it was opened.
    borrowing func checkUnchanged() throws(ArchiveError) {
        guard let opened, status.kind == .regular else { return }
        let now: FileStatus
        do throws(SystemError) {
            now = try opened.descriptor.status()
        } catch {
            throw ArchiveError(.sourceUnreadable, "can't be read", entry: entry.path, cause: error)
        }
        guard now.isUnchanged(since: status) else {
            throw ArchiveError(.sourceChanged, "changed while it was read", entry: entry.path)
        }
    }
}
