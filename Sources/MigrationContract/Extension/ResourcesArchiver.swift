public import Foundation
package import MigrationSystem

/// Takes the files that an extension exports, one call after another.
///
/// Corresponds to AppMigrationKit's type of that name. The host passes one to
/// ``ResourcesExportingWithOptions/exportResources(to:request:)``, and the extension appends each
/// resource as soon as it is ready. If an extension appends nothing for too long, the host assumes
/// that it hangs and ends it.
///
/// When the export is cancelled, ``appendItem(at:pathInArchive:)`` throws `CancellationError`.
/// Don't catch it: the host ends an extension that continues, and keeps nothing of its export.
public final class ResourcesArchiver {
    private let destination: any AppendDestination

    package init(appendingTo destination: any AppendDestination) {
        self.destination = destination
    }

    /// Appends a file, a symbolic link, or a directory with everything in it.
    ///
    /// The item must be in the app's container, in an app group that the session grants, in the
    /// extension's temporary directory, or in a ``GrantedResource`` that is open. A link is archived as a link. The entries of a directory
    /// follow in the byte order of their names; sockets, FIFOs and devices in it are omitted and
    /// reported. If `pathInArchive` leads through directories that were not appended, the archiver
    /// adds them.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - pathInArchive: The path at which the importing extension finds the item, relative to the
    ///     directory that it gets. Empty components and `.` are dropped, as in `media/`, and
    ///     reported; otherwise the path is not normalized. `nil` means the last component of `url`.
    /// - Throws: `CancellationError` once the export is cancelled. ``MigrationError`` of code
    ///   `invalidPath` if `pathInArchive` is absolute, has a component `..` or a zero byte, or has no
    ///   other component than `.`, and if `url` does not name a file; `outsideContainer` if the extension may not
    ///   export from the item's directory. `ArchiveError` of code `entryExists` if the archive
    ///   already holds that path, `unsupported` for a socket, FIFO or device, `sourceUnreadable`
    ///   and `sourceChanged`. After `sourceChanged` and after an error in writing the archive the
    ///   export can't succeed; after the others it may continue.
    public func appendItem(at url: URL, pathInArchive: String? = nil) async throws {
        guard let source = url.fileSystemPath else {
            let path = BytePath(url.absoluteString)
            throw MigrationError(.invalidPath, "is no path of a file system", path: path)
        }
        try ExtensionContext.hosted?.grants.checkIsOpen(source)
        let name = pathInArchive.map { [UInt8](utf8: $0) } ?? source.lastComponent
        try await destination.append(itemAt: source, as: name)
    }
}

/// Receives the items of an export: an archive in this process, or the host of another process.
package protocol AppendDestination: Sendable {
    /// Appends the item at `source`, an absolute path, under `name`.
    func append(itemAt source: BytePath, as name: [UInt8]) async throws
}

@available(*, unavailable)
extension ResourcesArchiver: Sendable {}
