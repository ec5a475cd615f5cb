/// Reads the entries of an archive in order, each with its content.
protocol EntryReader: AnyObject {
    /// Returns the next entry, or `nil` after the last; content that was not read is skipped.
    func next() throws -> ArchiveEntry?

    /// Where the header of the current entry begins in the tar stream.
    var entryOffset: UInt64 { get }

    /// How much of the current entry's content the archive holds; what is missing are holes.
    var storedSize: UInt64 { get }

    /// Passes the content of the current entry to `body`, piece by piece with its offset in the file.
    ///
    /// What lies between the pieces, and between the last one and the entry's size, is zeros.
    func readContent(_ body: (_ offset: UInt64, _ piece: Span<UInt8>) throws -> Void) throws

    /// Takes the content of the current entry for use after the reader has gone on; `nil` where it
    /// does not lie in one piece, and is to be read.
    func takeContent() throws -> ContentSlice?

    /// What the current entry holds that can't be restored, once.
    func takeDrops() -> [EntryDrop]
}

extension EntryReader {
    func takeContent() throws -> ContentSlice? { nil }
}

/// Something in an archive's entry that is not restored, though the entry is.
package struct EntryDrop: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// An extended attribute outside of the `user.` namespace.
        case extendedAttribute(name: [UInt8])
        /// Set-user-id, set-group-id or sticky bits.
        case specialPermissions(UInt16)
        /// A link that leads out, left out on request.
        case externalLink(target: [UInt8])
        /// The entry itself, whose path belongs to the place and not to the data.
        case reserved
    }

    package let path: EntryPath
    package let kind: Kind

    /// The bytes of the path and of the name or target beside it.
    var byteCount: Int {
        switch kind {
        case .extendedAttribute(let text), .externalLink(let text): path.bytes.count + text.count
        case .specialPermissions, .reserved: path.bytes.count
        }
    }
}
