public import Foundation
package import MigrationSystem

/// Takes the files that an extension exports, one call after another.
///
/// Corresponds to AppMigrationKit's type of that name. An extension is handed one by
/// ``ResourcesExportingWithOptions/exportResources(to:request:)`` and appends each resource as soon as
/// it is ready: an extension that appends nothing for too long is taken to hang, and is ended.
///
/// When the export is cancelled, ``appendItem(at:pathInArchive:)`` throws `CancellationError`. An
/// extension lets it pass; one that goes on is ended, and nothing of its export is kept.
public final class ResourcesArchiver {
    private let destination: any AppendDestination

    package init(appendingTo destination: any AppendDestination) {
        self.destination = destination
    }

    /// Appends a file, a symbolic link, or a directory with everything in it.
    ///
    /// The item must lie in the app's container, in an app group that the session grants, or in the
    /// extension's temporary directory. A link is archived as a link. Of a directory, entries follow in
    /// the byte order of their names; sockets, FIFOs and devices in it are left out and reported.
    /// Directories that `pathInArchive` leads through and that were not appended are made.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - pathInArchive: The path under which the importing side gets the item, relative to the root
    ///     that it gets and taken as it is, without normalization; `nil` takes the last component of
    ///     `url`.
    /// - Throws: `CancellationError` once the export is cancelled. ``MigrationError`` of code
    ///   `invalidPath` where `pathInArchive` is empty or absolute, or has a component `.` or `..` or a
    ///   zero byte, and where `url` is no file; `outsideContainer` where the item lies in no place that
    ///   the extension may export from. `ArchiveError` of code `entryExists` where the archive holds
    ///   that path already, `unsupported` for a socket, FIFO or device, `sourceUnreadable` and
    ///   `sourceChanged`. After those of code `sourceChanged` and after errors in writing the archive
    ///   the export can't succeed any more; after the others it may go on.
    public func appendItem(at url: URL, pathInArchive: String? = nil) async throws {
        guard let source = url.fileSystemPath else {
            let path = ByteString(utf8: url.absoluteString)
            throw MigrationError(.invalidPath, "is no path of a file system", path: path)
        }
        let name = pathInArchive.map { ByteString(utf8: $0) } ?? source.lastPathComponent
        try await destination.append(itemAt: source, as: name)
    }
}

/// Where the items of an export go: into an archive in this process, or to the host of another.
package protocol AppendDestination: Sendable {
    /// Appends the item at `source`, an absolute path, under `name`.
    func append(itemAt source: ByteString, as name: ByteString) async throws
}

@available(*, unavailable)
extension ResourcesArchiver: Sendable {}
