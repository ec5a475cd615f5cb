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
        let name = source.lastComponent
        var status = try directory.status(of: name)
        var opened: OpenFile?
        var attributes: [ExtendedAttribute] = []
        let kind: ArchiveEntry.Kind
        switch status.kind {
        case .symbolicLink: kind = .symbolicLink(target: try directory.symbolicLinkTarget(name))
        case .regular, .directory:
            let isDirectory = status.kind == .directory
            let file = OpenFile(try directory.open(name, isDirectory ? .directory : .reading))
            status = try file.descriptor.status()
            // Another file may have taken the name since.
            guard status.kind == (isDirectory ? .directory : .regular) else { return nil }
            attributes = try file.descriptor.extendedAttributes()
                .filter { extra.includesAttribute($0.name) }
            kind = isDirectory ? .directory : .file(size: status.size)
            opened = file
        default: return nil
        }
        let entry = ArchiveEntry(
            path: path,
            kind: kind,
            permissions: status.permissions,
            modificationTime: status.modificationTime,
            extendedAttributes: attributes,
            owner: extra.owner(of: status)
        )
        return ArchivableFile(entry: entry, status: status, opened: opened)
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
