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
