internal import MigrationArchive
internal import MigrationSystem

/// The checks of the sections of one kind, whose rules apply together.
struct SectionChecks {
    private let sections: [RulesFile.Section]
    private let rules: [BackupRule]
    private let tree: DataTree?
    // Made once, because a file may have a hundred thousand rules.
    private let includes: RuleTargets
    private let excludes: RuleTargets
    private let firstOfPlatform: RulesFile.Section?
    private let lacksParameters: Bool
    private(set) var findings: [LintFinding] = []

    init(_ sections: [RulesFile.Section], tree: DataTree?) {
        self.sections = sections
        rules = sections.flatMap(\.rules)
        self.tree = tree
        includes = RuleTargets(of: rules, .include)
        excludes = RuleTargets(of: rules, .exclude)
        let ofPlatform = sections.filter { $0.platform == RulesFile.platform }
        firstOfPlatform = ofPlatform.first
        lacksParameters = ofPlatform.allSatisfy(\.parameters.isEmpty)
    }

    private var isLegacy: Bool { sections[0].kind == .legacy }

    mutating func run() {
        for section in sections { check(section) }
        if rules.isEmpty, sections.allSatisfy({ $0.abort == nil }) {
            findings.report(
                .emptySection,
                severity: .error,
                line: sections[0].line,
                message: "an empty '\(sections[0].kind.elementName)' means everything, not nothing",
                fix:
                    "exclude each of the nine domains to send nothing, or include what is to be sent"
            )
        }
        if let first = rules.first(where: { $0.action == .include }), includes.isEmpty {
            findings.report(
                .onlyIncludeInvalid,
                severity: .error,
                line: first.line,
                message:
                    "no include of this section is valid, so Android drops them and sends everything",
                fix: "correct the include"
            )
        }
        for rule in rules { check(rule) }
        checkDeviceDomains()
    }

    /// An app that excludes everything it usually has still sends four domains.
    private mutating func checkDeviceDomains() {
        let excluding = rules.filter { $0.action == .exclude }
        let whole = excluding.filter { $0.ignoreReason == nil && $0.namesWholeDomain }
        let usual: [StorageDomain] = [.root, .file, .database, .sharedPreferences, .external]
        let left = StorageDomain.allCases.filter { domain in
            !usual.contains(domain) && !excluding.contains { $0.domain == domain }
        }
        guard includes.isEmpty, left.count == 4, let last = whole.last,
            usual.allSatisfy({ domain in whole.contains { $0.domain == domain } })
        else { return }
        findings.report(
            .deviceDomainsSent,
            severity: .warning,
            line: last.line,
            message:
                "these five domains are not all: \(left.map(\.rawValue).joined(separator: ", ")) of the "
                + "device-protected storage are still sent",
            fix: "exclude those four too, to send nothing"
        )
    }

    private mutating func check(_ section: RulesFile.Section) {
        if let abort = section.abort {
            findings.report(
                .parserAbort,
                severity: .error,
                line: abort.line,
                message:
                    "Android's parser gives up here (\(abort.reason)): nothing of the app is sent, and "
                    + "nobody is told",
                fix: "keep to <include> and <exclude> with the attributes 'domain' and 'path'"
            )
        }
        if section.kind == .crossPlatform { checkPlatform(of: section) }
    }

    private mutating func checkPlatform(of section: RulesFile.Section) {
        guard let platform = section.platform else {
            findings.report(
                .missingPlatform,
                severity: .error,
                line: section.line,
                message: "the section has no 'platform', so the app is not eligible",
                fix: "write platform=\"ios\""
            )
            return
        }
        guard platform == RulesFile.platform else {
            findings.report(
                .unknownPlatform,
                severity: .error,
                line: section.line,
                message:
                    "'\(PrintableText.escaping(platform))' is no platform that Android knows: the section "
                    + "counts for nothing",
                fix: "write platform=\"ios\", in small letters"
            )
            return
        }
        if lacksParameters, section.line == firstOfPlatform?.line {
            findings.report(
                .missingParams,
                severity: .error,
                line: section.line,
                message:
                    "the section has no 'platform-specific-params', so the app is not eligible",
                fix:
                    "add <platform-specific-params bundleId=\"…\" teamId=\"…\" contentVersion=\"…\"/> "
                    + "as a child of the section"
            )
        }
        for parameter in section.flawedParameters { report(parameter) }
    }

    private mutating func report(_ parameter: RulesFile.FlawedParameter) {
        let name = parameter.name
        let effect =
            name == "contentVersion"
            ? "the app on iOS can't know the format" : "no app on iOS matches"
        guard let value = parameter.value, !value.isEmpty else {
            findings.report(
                .missingAttribute,
                severity: .error,
                line: parameter.line,
                message: parameter.value == nil
                    ? "'\(name)' is missing; Android takes it for empty, and \(effect)"
                    : "'\(name)' is empty, so \(effect)",
                fix: "write \(name)=\"…\""
            )
            return
        }
        findings.report(
            .invalidIdentifier,
            severity: .error,
            line: parameter.line,
            message:
                "\(name)=\"\(PrintableText.escaping(value))\" has a form that Apple never gives, "
                + "so \(effect)",
            fix: name == "teamId"
                ? "write the team's ten capital letters and digits, as in ABCDE12345"
                : "write the app's bundle identifier: letters, digits, '-' and '.'"
        )
    }
}

// MARK: - Rules

extension SectionChecks {
    private mutating func check(_ rule: BackupRule) {
        checkFlags(of: rule)
        switch rule.ignoreReason {
        case .missingDomain:
            findings.report(
                .missingAttribute,
                severity: .error,
                line: rule.line,
                message: "the rule has no 'domain', so Android drops it",
                fix: "add domain=\"…\""
            )
        case .unknownDomain: reportDomain(of: rule)
        case .invalidPath:
            findings.report(
                .invalidPath,
                severity: .error,
                line: rule.line,
                message: "the path '\(shown(rule))' holds '..' or '//', so Android drops the rule",
                fix: "write the path from the domain's directory down"
            )
        case nil: checkValid(rule)
        }
    }

    private func shown(_ rule: BackupRule) -> String {
        PrintableText.escaping(rule.path ?? "")
    }

    private mutating func reportDomain(of rule: BackupRule) {
        let name = PrintableText.escaping(rule.domainName ?? "")
        if rule.domainName == "device_external" {
            findings.report(
                .deviceExternalDomain,
                severity: .error,
                line: rule.line,
                message: "there is no domain 'device_external', so Android drops the rule",
                fix: "write 'external': there is no other storage of that kind"
            )
        } else {
            let domains = StorageDomain.allCases.map(\.rawValue).joined(separator: ", ")
            findings.report(
                .unknownDomain,
                severity: .error,
                line: rule.line,
                message: "'\(name)' is no domain, so Android drops the rule",
                fix: "write one of: \(domains)"
            )
        }
    }

    private mutating func checkFlags(of rule: BackupRule) {
        guard let flags = rule.requireFlags else { return }
        if !isLegacy {
            findings.report(
                .requireFlagsIgnored,
                severity: .warning,
                line: rule.line,
                message: "'requireFlags' counts in 'full-backup-content' alone and is ignored here",
                fix: "take it out; 'cloud-backup' has disableIfNoEncryptionCapabilities=\"true\""
            )
        } else if flags.split(separator: "|").count != rule.requiredFlags.count {
            findings.report(
                .requireFlagsIgnored,
                severity: .error,
                line: rule.line,
                message:
                    "a word in requireFlags=\"\(PrintableText.escaping(flags))\" is no flag, and is no "
                    + "condition",
                fix: "write 'clientSideEncryption' or 'deviceToDeviceTransfer'"
            )
        }
    }

    private mutating func checkValid(_ rule: BackupRule) {
        guard let target = rule.target, let domain = rule.domain else { return }
        if let path = rule.path, path.contains("*") {
            findings.report(
                .wildcardPath,
                severity: .error,
                line: rule.line,
                message: "'\(shown(rule))' is taken letter by letter: there are no wildcards",
                fix: "name the directory, which covers all below it"
            )
        }
        checkSubdirectory(rule, domain: domain)
        checkPreferences(rule, domain: domain, target: target)
        if Selection.isNeverSent(target), rule.action == .include,
            !StorageDomain.neverSent.contains(target)
        {
            findings.report(
                .neverSentInclude,
                severity: .warning,
                line: rule.line,
                message:
                    "Android's documentation says that '\(shown(rule))' is never sent, yet its source "
                    + "sends what a rule names below such a directory",
                fix: "keep the data elsewhere, or take the rule out"
            )
        } else if Selection.isNeverSent(target) {
            findings.report(
                .deadRule,
                severity: .warning,
                line: rule.line,
                message: "Android never sends '\(shown(rule))', so the rule does nothing",
                fix: "take the rule out; data that is to be sent must lie elsewhere"
            )
        }
        switch rule.action {
        case .include: checkInclude(rule, domain: domain, target: target)
        case .exclude: checkExclude(rule, domain: domain, target: target)
        }
    }

    /// Android lint's check FullBackupContent allows no slash in the paths of two domains.
    private mutating func checkSubdirectory(_ rule: BackupRule, domain: StorageDomain) {
        guard [.database, .sharedPreferences].contains(domain), let path = rule.path,
            path.contains("/")
        else { return }
        let isDotSlash = path.hasPrefix("./")
        findings.report(
            isDotSlash ? .dotSlashPathLint : .subdirectoryPathLint,
            severity: .error,
            line: rule.line,
            message:
                "Android lint's check FullBackupContent refuses '/' in a path of '\(domain.rawValue)': the "
                + "release build fails, though a device takes it",
            fix: isDotSlash
                ? "write '.' for the whole domain, or the path without './'"
                : "name a file without '/', or write '.' for the whole domain"
        )
    }

    private mutating func checkPreferences(
        _ rule: BackupRule,
        domain: StorageDomain,
        target: EntryPath
    ) {
        guard [.sharedPreferences, .deviceSharedPreferences].contains(domain),
            !rule.namesWholeDomain, !target.bytes.suffix(4).elementsEqual(".xml".utf8)
        else { return }
        let isCovered = domain == .sharedPreferences
        findings.report(
            .sharedPrefWithoutXML,
            severity: isCovered ? .note : .error,
            line: rule.line,
            message: isCovered
                ? "'\(shown(rule))' has no '.xml'; Android also takes '\(shown(rule)).xml'"
                : "'\(shown(rule))' has no '.xml', which Android adds for 'sharedpref' alone",
            fix: "write '\(shown(rule)).xml'"
        )
    }

    private mutating func checkInclude(
        _ rule: BackupRule,
        domain: StorageDomain,
        target: EntryPath
    ) {
        let apart = domain.roots.map(\.iosPath)
        if apart.contains(target) {
            let name = StorageDomain(containing: target)?.rawValue ?? ""
            findings.report(
                .rootIncludeMisunderstood,
                severity: .error,
                line: rule.line,
                message:
                    "the walk of '\(domain.rawValue)' leaves '\(shown(rule))' out, so the rule sends "
                    + "nothing",
                fix: "include domain=\"\(name)\" path=\".\""
            )
        } else if rule.namesWholeDomain, !apart.isEmpty, !apart.allSatisfy(includes.contains) {
            findings.report(
                .rootIncludeMisunderstood,
                severity: .error,
                line: rule.line,
                message: "'\(domain.rawValue)' does not include \(Self.listing(apart))",
                fix: "include those domains too, or take the rule out"
            )
        }
        if let above = excludes.first(atOrAbove: target), let path = above.target {
            findings.report(
                .excludeParentOfInclude,
                severity: .error,
                line: rule.line,
                message: path == target
                    ? "the exclude at line \(above.line) names the same and wins: nothing is sent"
                    : "it lies below what line \(above.line) excludes, yet Android sends it: an "
                        + "iPhone receives it, and an Android device drops it",
                fix: "decide for one of the two"
            )
        }
    }

    private mutating func checkExclude(
        _ rule: BackupRule,
        domain: StorageDomain,
        target: EntryPath
    ) {
        let apart = domain.roots.map(\.iosPath)
        if rule.namesWholeDomain, !apart.isEmpty, !apart.allSatisfy(excludes.contains) {
            findings.report(
                .rootExcludeMisunderstood,
                severity: .error,
                line: rule.line,
                message: "'\(domain.rawValue)' as a whole does not exclude \(Self.listing(apart))",
                fix: "exclude those domains too; to send nothing, exclude all nine"
            )
        }
        if !includes.isEmpty, includes.first(atOrAbove: target) == nil,
            !includes.holdsPath(below: target)
        {
            findings.report(
                .excludeOutsideIncludes,
                severity: .error,
                line: rule.line,
                message:
                    "nothing includes '\(shown(rule))', so there is nothing to exclude, and Android lint's "
                    + "check FullBackupContent fails the release build",
                fix: "take the rule out, or correct it"
            )
        }
        checkSidecars(of: rule, domain: domain, target: target)
    }

    private mutating func checkSidecars(
        of rule: BackupRule,
        domain: StorageDomain,
        target: EntryPath
    ) {
        guard [.database, .deviceDatabase].contains(domain), !rule.namesWholeDomain,
            !["-shm", "-wal", "-journal"].contains(where: {
                target.bytes.suffix($0.utf8.count).elementsEqual($0.utf8)
            }),
            includes.isEmpty || includes.first(above: target) != nil
        else { return }
        if let tree, let index = tree.resolve(target), tree[index].kind == .directory { return }
        // A slash at the end isn't part of the name.
        let name = domain.relativePath(of: target)?.description ?? shown(rule)
        let suffixes = domain == .database ? ["-shm"] : ["-journal", "-wal", "-shm"]
        let left = suffixes.filter { !excludes.contains(target.appending($0)) }
        guard !left.isEmpty else { return }
        findings.report(
            .databaseSidecarNote,
            severity: .note,
            line: rule.line,
            message:
                "'\(name)' is excluded and its \(left.joined(separator: ", ")) is not: it travels "
                + "alone",
            fix: "exclude \(left.map { "'\(name)\($0)'" }.joined(separator: " and ")) too"
        )
    }

    private static func listing(_ paths: [EntryPath]) -> String {
        paths.map { "'\(String(decoding: $0.lastComponent, as: UTF8.self))'" }
            .joined(separator: ", ")
    }
}

/// The targets of the valid rules of one kind, with lookups in time proportional to a path's
/// length.
struct RuleTargets {
    /// The first rule for each target, by the target's hash.
    private var rules: [Int: (order: Int, rule: BackupRule)] = [:]
    /// The targets in the order of the tree.
    private var paths: [EntryPath] = []

    init(of rules: [BackupRule], _ action: BackupRule.Action) {
        for (order, rule) in rules.enumerated() where rule.action == action {
            guard let target = rule.target else { continue }
            paths.append(target)
            let hash = target.levelHash
            if self.rules[hash] == nil { self.rules[hash] = (order, rule) }
        }
        paths.sort { $0.precedesInTree($1) }
    }

    var isEmpty: Bool { paths.isEmpty }

    /// Whether a rule names `path`.
    func contains(_ path: EntryPath) -> Bool { rules[path.levelHash] != nil }

    /// The first rule that names `path` or a directory above it.
    func first(atOrAbove path: EntryPath) -> BackupRule? { first(among: path.levelHashes[...]) }

    /// The first rule that names a directory above `path`.
    func first(above path: EntryPath) -> BackupRule? { first(among: path.levelHashes.dropLast()) }

    private func first(among hashes: ArraySlice<Int>) -> BackupRule? {
        hashes.compactMap { rules[$0] }.min { $0.order < $1.order }?.rule
    }

    /// Whether a rule names something in the directory `path`.
    func holdsPath(below path: EntryPath) -> Bool {
        let first = paths.partitionPoint { !$0.precedesInTree(path) }
        return first < paths.count && paths[first].isEqual(toOrBelow: path)
    }
}
