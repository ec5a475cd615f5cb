package import MigrationSystem

/// Reads the entries of an archive in order, each with its content.
protocol EntryReader: AnyObject {
    /// Returns the next entry, or `nil` after the last; content that was not read is skipped.
    func next() throws -> ArchiveEntry?

    /// Where the header of the current entry begins in the tar stream.
    var entryOffset: UInt64 { get }

    /// The current entry's place in its window; in another program's archive each entry has its own
    /// window.
    var place: WindowPlace { get }

    /// The bytes of the current entry's content that the archive holds; the rest are holes.
    var storedSize: UInt64 { get }

    /// Passes the content of the current entry to `body`, piece by piece with its offset in the file.
    ///
    /// Everything between the pieces, and between the last one and the entry's size, is zeros.
    func readContent(_ body: (_ offset: UInt64, _ piece: Span<UInt8>) throws -> Void) throws

    /// Passes the content of the current entry to `body` in slices that stay valid after the reader moves on,
    /// each with its offset in the file; at least one, which may be empty.
    ///
    /// - Returns: `false` if the content has to be read.
    func takeContent(_ body: (_ offset: UInt64, ContentSlice) throws -> Void) throws -> Bool

    /// Returns the parts of the current entry that can't be restored, once.
    func takeOmissions() -> [EntryOmission]
}

extension EntryReader {
    var place: WindowPlace { .first }
    func takeContent(_ body: (UInt64, ContentSlice) throws -> Void) throws -> Bool { false }
}

// MARK: - Omissions

/// A part of an entry, or a whole one, that is not restored.
package struct EntryOmission: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// An extended attribute outside the `user.` namespace.
        case extendedAttribute(name: [UInt8])
        /// The owners of all entries, if the caller didn't ask to restore them.
        case owners
        /// Set-user-id, set-group-id or sticky bits.
        case specialPermissions(UInt16)
        /// The modification time, which the destination can't hold, and the one that was stored
        /// instead.
        case modificationTime(FileTime, stored: FileTime)
        /// A link that leads out of the destination, omitted on request.
        case externalLink(target: [UInt8])
        /// The entry itself, because its path is reserved for the destination.
        case reserved
        /// The entry itself, or all entries from it on, because of the damage that the text describes.
        case damaged(String)
    }

    package let path: EntryPath
    package let kind: Kind

    /// The bytes that the path and the name or target take.
    var byteCount: Int {
        switch kind {
        case .extendedAttribute(let text), .externalLink(let text): path.bytes.count + text.count
        case .damaged(let text): path.bytes.count + text.utf8.count
        case .owners, .specialPermissions, .modificationTime, .reserved: path.bytes.count
        }
    }
}
