internal import MigrationCore

/// The flags that ask for extra metadata in an archive.
struct MetadataFlags: FlagGroup {
    /// Which extended attributes are included.
    enum Attributes: String, CaseIterable, Sendable {
        case user
        case all
    }

    private var hasOwners = false
    private var hasAccessLists = false
    private var attributes = Attributes.user

    static let topic: FlagTopic? = .container

    static let owners = Flag<Self>("owners", sets: \.hasOwners)
        .help("Keep the owner and group of every entry, as numbers; only root can restore them.")

    static var flags: [Flag<Self>] {
        owners
        Flag("acls", sets: \.hasAccessLists)
            .help("Keep access control lists, with accounts as numbers.")
        Flag("xattrs", value: "which", as: .choice, to: \.attributes)
            .help(
                "Keep the extended attributes of 'user.' alone (the default), or 'all' but access "
                    + "control lists."
            )
    }

    /// The metadata that the flags ask for.
    var extraMetadata: ExtraMetadata {
        var extra: ExtraMetadata = []
        if hasOwners { extra.insert(.owners) }
        if hasAccessLists { extra.insert(.accessLists) }
        if attributes == .all { extra.insert(.attributes) }
        return extra
    }
}

/// The flags that choose which extra metadata is restored, and for which accounts.
struct RestoredMetadataFlags: FlagGroup {
    private var metadata = MetadataFlags()
    private var map = OwnerMap()

    static let topic: FlagTopic? = .container

    static var flags: [Flag<Self>] {
        MetadataFlags.included(at: \.metadata)
        mapping("map-owner", of: "user", to: \.map.users)
        mapping("map-group", of: "group", to: \.map.groups)
    }

    private static func mapping(
        _ name: String,
        of kind: String,
        to path: Property<Self, [UInt32: UInt32]>
    ) -> Flag<Self> {
        Flag<Self>(name, value: "from:to", as: .accounts, isRepeatable: true) {
            (owner, accounts) throws(ValueError) in
            guard owner[keyPath: path].updateValue(accounts.to, forKey: accounts.from) == nil else {
                throw .message("option '--\(name)' is given twice for \(accounts.from)")
            }
        }
        .help("Restore files of the first \(kind) as the second's, by numbers; may be repeated.")
        .needing(MetadataFlags.owners)
    }

    /// Applies the flags to `options`.
    func apply(to options: inout ImportOptions) {
        options.extraMetadata = metadata.extraMetadata
        options.ownerMap = map
    }
}

/// The numbers of two accounts; the second replaces the first.
private struct Accounts: Sendable {
    let from: UInt32
    let to: UInt32
}

extension ValueReader where Value == Accounts {
    /// Two numbers with a colon between them.
    fileprivate static var accounts: Self {
        Self { (bytes) throws(ValueError) in
            let numbers = bytes.split(
                separator: UInt8(ascii: ":"),
                omittingEmptySubsequences: false
            )
            .map { digits -> UInt32? in
                guard digits.allSatisfy(\.isDigit) else { return nil }
                return UInt32(String(decoding: digits, as: UTF8.self))
            }
            // The largest number isn't an account (chown(2)).
            guard numbers.count == 2, let from = numbers[0], let to = numbers[1], from != .max,
                to != .max
            else { throw .invalid("is not two numbers of accounts, like 1000:33") }
            return Accounts(from: from, to: to)
        }
    }
}
