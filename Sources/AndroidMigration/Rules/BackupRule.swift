internal import MigrationArchive

/// One `include` or `exclude` of a rules file.
struct BackupRule: Hashable, Sendable {
    enum Action: String, Sendable {
        case include, exclude
    }

    let action: Action
    let domainName: String?
    let path: String?
    let requireFlags: String?
    let line: Int

    /// Why Android silently ignores the rule; `nil` if it applies (FullBackup, parseRules).
    var ignoreReason: IgnoreReason? {
        if domainName == nil { return .missingDomain }
        if domain == nil { return .unknownDomain }
        let path = path ?? ""
        return path.contains("..") || path.contains("//") ? .invalidPath : nil
    }

    enum IgnoreReason: Sendable {
        case missingDomain, unknownDomain, invalidPath
    }

    var domain: StorageDomain? { domainName.flatMap(StorageDomain.init) }

    /// Whether the rule covers its whole domain.
    var namesWholeDomain: Bool { components.isEmpty }

    /// The components of the path, without empty ones and `.`.
    private var components: [Substring] {
        (path ?? "").split(separator: "/").filter { $0 != "." }
    }

    /// The rule's target as a path on iOS; `nil` if the rule is ignored.
    var target: EntryPath? {
        guard ignoreReason == nil, let domain else { return nil }
        return domain.iosPath(of: EntryPath(components.joined(separator: "/")))
    }

    /// Additional targets of the rule if its target is not a directory.
    ///
    /// Only the two domains below have them, not those in device-protected storage (FullBackupTest).
    func companions(of target: EntryPath) -> [EntryPath] {
        switch domain {
        case .database: ["-journal", "-wal"].map { target.appending($0) }
        case .sharedPreferences where !target.bytes.suffix(4).elementsEqual(".xml".utf8):
            [target.appending(".xml")]
        default: []
        }
    }

    /// The known words of `requireFlags`; others are ignored.
    var requiredFlags: Set<TransportFlag> {
        Set(
            (requireFlags ?? "").split(separator: "|").compactMap {
                TransportFlag(rawValue: "\($0)")
            }
        )
    }
}

extension EntryPath {
    /// The path with `suffix` appended to its last name.
    func appending(_ suffix: String) -> EntryPath {
        EntryPath(bytes: bytes + suffix.utf8)
    }
}

/// Properties of a transport that rules of the older format can require.
enum TransportFlag: String, Sendable {
    case clientSideEncryption, deviceToDeviceTransfer, fakeClientSideEncryption
}
