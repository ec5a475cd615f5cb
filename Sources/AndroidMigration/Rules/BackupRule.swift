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

    /// Why Android drops the rule and says nothing; `nil` where it counts (FullBackup, parseRules).
    var flaw: Flaw? {
        if domainName == nil { return .missingDomain }
        if domain == nil { return .unknownDomain }
        let path = path ?? ""
        return path.contains("..") || path.contains("//") ? .invalidPath : nil
    }

    enum Flaw: Sendable {
        case missingDomain, unknownDomain, invalidPath
    }

    var domain: StorageDomain? { domainName.flatMap(StorageDomain.init) }

    /// Whether the rule stands for the whole of its domain.
    var namesWholeDomain: Bool { components.isEmpty }

    /// The names between the slashes of the path, without those that stand for nothing.
    private var components: [Substring] {
        (path ?? "").split(separator: "/").filter { $0 != "." }
    }

    /// What the rule names, as a path on iOS; `nil` where it doesn't count.
    var target: EntryPath? {
        guard flaw == nil, let domain else { return nil }
        return domain.iosPath(of: EntryPath(components.joined(separator: "/")))
    }

    /// What the rule also names where its target is no directory.
    ///
    /// Only the two names below have them, not those of the device-protected storage (FullBackupTest).
    func companions(of target: EntryPath) -> [EntryPath] {
        switch domain {
        case .database: ["-journal", "-wal"].map { target.appending($0) }
        case .sharedPreferences where !target.bytes.suffix(4).elementsEqual(".xml".utf8):
            [target.appending(".xml")]
        default: []
        }
    }

    /// The words of `requireFlags` that mean something; others are no condition.
    var requiredFlags: Set<TransportFlag> {
        Set(
            (requireFlags ?? "").split(separator: "|").compactMap {
                TransportFlag(rawValue: "\($0)")
            }
        )
    }
}

extension EntryPath {
    /// The path whose last name goes on with `suffix`.
    func appending(_ suffix: String) -> EntryPath {
        EntryPath(bytes: bytes + suffix.utf8)
    }
}

/// What a transport says of itself, on which rules of the older format can depend.
enum TransportFlag: String, Sendable {
    case clientSideEncryption, deviceToDeviceTransfer, fakeClientSideEncryption
}
