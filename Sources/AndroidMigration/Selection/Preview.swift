public import MigrationArchive
internal import MigrationSystem

/// The data that an app sends in a transfer, by its rules.
public struct Preview: Sendable {
    /// A file or directory that is sent.
    public struct Item: Sendable {
        /// The domain in which it is sent.
        public let domain: StorageDomain

        /// Its path below the domain's directory.
        public let path: EntryPath

        /// Where an app on iOS receives it, below the directory of the import.
        public let iosPath: EntryPath

        /// Whether it is a directory.
        public let isDirectory: Bool

        /// The bytes of its content.
        public let bytes: UInt64

        /// The line of the rule that decides; `nil` if none does.
        public let rule: Int?
    }

    /// The section whose rules apply.
    public let section: RuleSection

    /// Whether the app takes part.
    public let isEligible: Bool

    /// Why the app doesn't take part, or why it sends something other than its rules say.
    public let reasons: [String]

    /// The items that are sent.
    public let included: [Item]

    /// The items that are not sent; a directory includes everything in it.
    public let excluded: [Item]

    /// Runs the selection of Android's backup agent.
    ///
    /// - Parameters:
    ///   - rules: The app's rules.
    ///   - section: The transfer.
    ///   - manifest: The app's settings for backups; the defaults if `nil`.
    ///   - tree: The app's storage.
    ///   - canEncrypt: Whether the transport supports client-side encryption.
    package init(
        _ rules: RulesFile,
        section: RuleSection,
        manifest: AppManifest? = nil,
        tree: DataTree,
        canEncrypt: Bool = true
    ) {
        let terms = TransferTerms(
            rules,
            section: section,
            manifest: manifest,
            canEncrypt: canEncrypt
        )
        self.section = section
        isEligible = terms.isEligible
        reasons = terms.reasons
        let selection =
            terms.isEligible && terms.abort == nil
            ? Selection(terms.rules, in: tree, flags: terms.flags) : nil
        included = selection?.included.map { Item($0, in: tree) } ?? []
        excluded = selection?.excluded().map { Item($0) } ?? Self.everything(in: tree)
    }

    private static func everything(in tree: DataTree) -> [Item] {
        StorageDomain.allCases.compactMap { domain in
            tree.index(of: domain.iosPath).map { index in
                Item(
                    Selection.Excluded(
                        path: domain.iosPath,
                        bytes: tree.bytes(of: index, leavingOut: domain.roots.map(\.iosPath)),
                        isDirectory: true,
                        rule: nil
                    )
                )
            }
        }
    }
}

extension Preview.Item {
    fileprivate init(_ item: Selection.Included, in tree: DataTree) {
        let node = tree[item.index]
        self.init(
            domain: item.domain,
            path: item.path,
            iosPath: tree.path(of: item.index),
            isDirectory: node.kind == .directory,
            bytes: node.kind.bytes,
            rule: item.rule
        )
    }

    fileprivate init(_ item: Selection.Excluded) {
        let domain = StorageDomain(containing: item.path) ?? .root
        self.init(
            domain: domain,
            path: domain.relativePath(of: item.path) ?? item.path,
            iosPath: item.path,
            isDirectory: item.isDirectory,
            bytes: item.bytes,
            rule: item.rule
        )
    }
}

extension DataTree {
    /// The bytes of all files below a directory except those below `others`.
    fileprivate func bytes(of index: Int, leavingOut others: [EntryPath]) -> UInt64 {
        var sum: UInt64 = 0
        var pending = [index]
        while let index = pending.popLast() {
            if others.contains(path(of: index)) { continue }
            sum.addSaturating(self[index].kind.bytes)
            pending += self[index].children.values
        }
        return sum
    }
}
