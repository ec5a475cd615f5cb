internal import MigrationArchive
internal import MigrationSystem

/// The part of an app's storage that Android's backup agent sends by the rules of one section.
struct Selection: Sendable {
    /// The items that are sent.
    struct Included: Sendable {
        let index: Int
        let domain: StorageDomain
        let path: EntryPath
        /// The line of the rule that includes it; `nil` if a whole domain is sent.
        let rule: Int?
    }

    /// The items that are not sent; a directory includes everything in it.
    struct Excluded: Sendable {
        let path: EntryPath
        let bytes: UInt64
        let isDirectory: Bool
        /// The line of the rule that excludes it; `nil` if none does.
        let rule: Int?
    }

    private let tree: DataTree
    private var lines: [Int: Int] = [:]
    private var prunedBy: [Int: Int] = [:]
    private(set) var included: [Included] = []

    /// Walks like `BackupAgent.onFullBackup`; without `flags`, `requireFlags` is ignored.
    init(_ rules: [BackupRule], in tree: DataTree, flags: Set<TransportFlag>?) {
        self.tree = tree
        for rule in rules where rule.action == .exclude {
            for index in Self.targets(of: rule, in: tree) where lines[index] == nil {
                lines[index] = rule.line
            }
        }
        let includes = rules.filter { $0.action == .include && $0.ignoreReason == nil }
        var seen: Set<Int> = []
        for domain in StorageDomain.allCases {
            guard !includes.isEmpty else {
                walk(domain, from: tree.index(of: domain.iosPath), rule: nil, seen: &seen)
                continue
            }
            for rule in includes where rule.domain == domain {
                if let flags, !rule.requiredFlags.isSubset(of: flags) { continue }
                for index in Self.targets(of: rule, in: tree) {
                    walk(domain, from: index, rule: rule.line, seen: &seen)
                }
            }
        }
    }

    /// The items that a rule names in the tree, with their companions; all links are followed, because
    /// rules are stored by canonical path.
    static func targets(of rule: BackupRule, in tree: DataTree) -> [Int] {
        guard let target = rule.target else { return [] }
        let index = tree.resolve(target)
        if let index, tree[index].kind == .directory { return [index] }
        return [index].compactMap(\.self)
            + rule.companions(of: target).compactMap { tree.resolve($0) }
    }

    private mutating func walk(
        _ domain: StorageDomain,
        from start: Int?,
        rule: Int?,
        seen: inout Set<Int>
    ) {
        guard let start else { return }
        let startPath = tree.path(of: start)
        guard domain.relativePath(of: startPath) != nil else { return }
        var pending = [start]
        while let index = pending.popLast() {
            let node = tree[index]
            switch node.kind {
            case .link, .other: continue
            case .file, .directory: break
            }
            if let line = lines[index] {
                prunedBy[index] = line
                continue
            }
            let nodePath = tree.path(of: index)
            if Self.isWalkedApart(nodePath, from: domain) { continue }
            if case .directory = node.kind { pending += tree.children(of: index).reversed() }
            guard let path = domain.relativePath(of: nodePath), !path.bytes.isEmpty,
                seen.insert(index).inserted
            else { continue }
            let item = Included(index: index, domain: domain, path: path, rule: rule)
            included.append(item)
        }
    }

    /// Whether it is sent only if a rule names it below the directory that the walk leaves out.
    ///
    /// The documentation says that it is never sent; the source only leaves out the directory
    /// (BackupAgent, fullBackupFileTree).
    static func isNeverSent(_ path: EntryPath) -> Bool {
        StorageDomain.neverSent.contains { path.isEqual(toOrBelow: $0) }
    }

    /// Whether `path` is the directory of another domain, which this domain's walk skips.
    private static func isWalkedApart(_ path: EntryPath, from domain: StorageDomain) -> Bool {
        StorageDomain.neverSent.contains(path)
            || StorageDomain.allCases.contains { $0 != domain && $0.iosPath == path }
    }

    /// The bytes that each rule adds or removes, by the rule's line.
    var bytesByRule: [Int: UInt64] {
        var sums: [Int: UInt64] = [:]
        for item in included {
            guard let rule = item.rule else { continue }
            sums[rule, default: 0].addSaturating(tree[item.index].kind.bytes)
        }
        for item in excluded() {
            guard let rule = item.rule else { continue }
            sums[rule, default: 0].addSaturating(item.bytes)
        }
        return sums
    }
}

// MARK: - Items that are not sent

extension Selection {
    private struct Summary {
        var bytes: UInt64
        var holdsIncluded: Bool
        var holdsRule: Bool
    }

    /// The items that are not sent, as few as possible: a directory that isn't sent at all is one
    /// item.
    func excluded() -> [Excluded] {
        let summaries = summaries()
        var result: [Excluded] = []
        var pending: [(index: Int, rule: Int?)] = [(0, nil)]
        while let (index, above) = pending.popLast() {
            guard let summary = summaries[index] else { continue }
            let node = tree[index]
            let path = tree.path(of: index)
            // A domain's directory is not part of the domain around it.
            let isDomain = StorageDomain.allCases.contains { $0.iosPath == path }
            let rule =
                Self.isNeverSent(path) ? nil : lines[index] ?? (isDomain ? nil : above)
            let holdsDomain =
                index == 0
                || StorageDomain.allCases.contains {
                    $0.iosPath != path && $0.iosPath.isEqual(toOrBelow: path)
                }
            if !summary.holdsIncluded, !summary.holdsRule, !holdsDomain {
                let isDirectory = node.kind == .directory
                let item = Excluded(
                    path: path,
                    bytes: summary.bytes,
                    isDirectory: isDirectory,
                    rule: rule
                )
                result.append(item)
            } else {
                pending += tree.children(of: index).reversed().map { ($0, rule) }
            }
        }
        return result
    }

    /// The total of each item, with everything below it.
    private func summaries() -> [Int: Summary] {
        let sent = Set(included.map(\.index))
        var summaries: [Int: Summary] = [:]
        for index in postOrder() {
            let node = tree[index]
            var summary = Summary(
                bytes: node.kind.bytes,
                holdsIncluded: sent.contains(index),
                holdsRule: false
            )
            for child in node.children.values {
                guard let other = summaries[child] else { continue }
                summary.bytes.addSaturating(other.bytes)
                summary.holdsIncluded = summary.holdsIncluded || other.holdsIncluded
                summary.holdsRule =
                    summary.holdsRule || other.holdsRule || lines[child] != nil
            }
            summaries[index] = summary
        }
        return summaries
    }

    /// All indices, each after those of its contents.
    private func postOrder() -> [Int] {
        var order: [Int] = []
        var pending = [0]
        while let index = pending.popLast() {
            order.append(index)
            pending += tree[index].children.values
        }
        return order.reversed()
    }
}
