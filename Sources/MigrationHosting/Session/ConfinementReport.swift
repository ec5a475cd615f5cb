internal import MigrationCore
internal import MigrationSystem

/// How an extension was confined.
public struct ConfinementReport: Sendable, Codable, Equatable {
    /// Whether both its files and its system calls were confined.
    public let isConfined: Bool

    /// The version of Landlock that confined its files; 0 if they were not confined.
    public let landlockVersion: Int

    /// Whether its system calls were filtered.
    public let filtersSystemCalls: Bool

    /// Whether its process had its own root directory, in which other files don't exist.
    ///
    /// Then it can't learn anything about other files, and can't change the mode, times or owner of
    /// files that it may only read. If this is `false`, ``gaps`` says why.
    public private(set) var hidesOtherFiles: Bool

    /// Everything that was not confined or limited, a phrase each.
    public private(set) var gaps: [String]

    /// The user it ran as, in a phrase; `nil` if it did not run in its own process.
    public private(set) var user: String?

    /// The limits on its use of the machine, a phrase each.
    public private(set) var bounds: [String]
}

extension ConfinementReport {
    /// The report of an extension in its host's own process.
    static let ownProcess = ConfinementReport(lackingBecause: "it runs in its host's process")

    /// The report of an unconfined extension.
    init(lackingBecause reason: String) {
        isConfined = false
        landlockVersion = 0
        filtersSystemCalls = false
        hidesOtherFiles = false
        gaps = ["everything: \(reason)"]
        bounds = []
        user = nil
    }

    /// The same for an extension that runs as `user`; `nil` means the host's user.
    func running(as user: UserIdentity?) -> ConfinementReport {
        let own = FileStatus.currentUser
        let other = user.map { "\($0.text), who owns the container, without root's rights" }
        var report = self
        report.user = other ?? (own == 0 ? "root, who owns the container" : "user \(own)")
        if own != 0 || user != nil { report.gaps = gaps.map(Self.withoutRoot) }
        return report
    }

    /// A gap without the parts that only root can use.
    private static func withoutRoot(_ gap: String) -> String {
        gap.replacing(ownersOfRoot, with: "").replacing(kernelOfRoot, with: "")
    }

    private static let ownersOfRoot = ", for root the owners too"
    private static let kernelOfRoot = ", and root of the kernel"

    /// The gap that a memory limit partly closes.
    package static let memoryGap = "its memory (no cgroup, and no limit of each process)"

    /// Whether an extension's process has its own root directory.
    enum FileVisibility {
        case hidden
        case visible(because: String)
    }

    /// The same for an extension that can't see other files, or can for the given reason.
    func seeing(_ visibility: FileVisibility) -> ConfinementReport {
        guard landlockVersion > 0 || filtersSystemCalls else { return self }
        var report = self
        switch visibility {
        case .hidden:
            report.hidesOtherFiles = true
            report.gaps.removeAll(where: Self.gapsOfVisibility.contains)
        case .visible(let reason):
            report.gaps = gaps.map {
                guard Self.gapsOfVisibility.contains($0) else { return $0 }
                return "\($0): no root directory of its own, \(reason)"
            }
        }
        return report
    }

    /// The same for an extension that `grants` were granted to.
    func granting(_ grants: SessionGrants, seen visibility: FileVisibility) -> ConfinementReport {
        guard case .visible = visibility, !grants.grants.isEmpty,
            landlockVersion > 0 || filtersSystemCalls
        else { return self }
        var report = self
        report.gaps.append("the granted resources before they are opened and after they are closed")
        return report
    }

    /// The same for an extension whose process is limited.
    func bounded(by bounds: SessionBounds) -> ConfinementReport {
        var report = self
        if landlockVersion > 0 || filtersSystemCalls { report.gaps += bounds.gaps }
        report.bounds = bounds.phrases
        return report
    }
}

extension ConfinementReport {
    /// The report of an extension that `support` confines.
    init(of support: Sandbox.Support) {
        guard support.confinesFiles || support.filtersSystemCalls else {
            self.init(lackingBecause: "the system can't confine")
            return
        }
        self.init(
            isConfined: support.confinesFiles && support.filtersSystemCalls,
            landlockVersion: support.landlockVersion,
            filtersSystemCalls: support.filtersSystemCalls,
            hidesOtherFiles: false,
            gaps: Self.gaps(support),
            user: nil,
            bounds: []
        )
    }

    /// The gaps that its own root directory closes.
    private static let gapsOfVisibility = [
        "the names, sizes, times, links and attributes of files anywhere (stat, readlink)",
        "the modes, times and attributes of the user's own files anywhere\(ownersOfRoot) (chmod, "
            + "utimes, setxattr, chown)",
    ]

    /// The gaps that this version of Landlock and the system call filter leave.
    private static func gaps(_ support: Sandbox.Support) -> [String] {
        var gaps =
            gapsOfVisibility + [
                "the public information in /proc about a process with a known number\(kernelOfRoot)"
            ]
        if !support.confinesFiles {
            gaps.append("all files that the user may read or write (no Landlock)")
        } else if support.landlockVersion < 3 {
            gaps.append("truncating files (truncate)")
        }
        if support.landlockVersion < 6 {
            gaps.append("signals to other processes of the same user")
        }
        if !support.filtersSystemCalls {
            gaps.append(
                "sockets, namespaces, System V objects, watches on files, the limits of other "
                    + "processes, and ways to escape termination (no system call filter)"
            )
        }
        return gaps
    }
}

// MARK: - The sandbox

/// The files that an extension's process may reach.
enum ExtensionSandbox {
    /// Makes the best sandbox for `program` that the system offers, and reports what it confines.
    ///
    /// - Throws: ``MigrationError`` of code `confinementUnavailable` if the system can't make the
    ///   required one.
    static func make(
        for program: BytePath,
        in directories: SessionDirectories,
        policy: MigrationExtension.ConfinementPolicy
    ) throws(MigrationError) -> (Sandbox?, ConfinementReport) {
        let support = Sandbox.support
        let report = ConfinementReport(of: support)
        switch policy {
        case .none:
            return (nil, ConfinementReport(lackingBecause: "no confinement was requested"))
        case .required where !report.isConfined:
            let message =
                "this system can't confine an extension (Landlock \(support.landlockVersion), "
                + "system call filter: \(support.filtersSystemCalls ? "yes" : "no"))"
            throw MigrationError(.confinementUnavailable, message)
        case .required, .whereAvailable:
            guard support.confinesFiles || support.filtersSystemCalls else { return (nil, report) }
            let grants = directories.grants.grants.map { grant in
                Sandbox.Rule(
                    path: grant.path,
                    access: grant.resource.isWritable ? .readAndWrite : .read
                )
            }
            let rules = try rules(for: program, in: directories)
            return (Sandbox(rules: rules, grants: grants, by: support), report)
        }
    }

    private static func rules(
        for program: BytePath,
        in directories: SessionDirectories
    ) throws(MigrationError) -> [Sandbox.Rule] {
        let access: Sandbox.Access = directories.role == .importing ? .readAndWrite : .read
        var rules: [Sandbox.Rule]
        do {
            rules = try Sandbox.rules(forRunning: program)
        } catch {
            let message = "the extension can't be read"
            throw MigrationError(.extensionUnsuitable, message, path: program, cause: error)
        }
        if let holder = directories.importDirectory?.holder {
            // An extension may remove the import directory, or move it as a whole.
            rules.append(Sandbox.Rule(path: holder, access: .readAndWrite))
        } else {
            rules.append(Sandbox.Rule(path: directories.container.rootPath, access: access))
            if let directory = directories.importDirectory?.path {
                rules.append(Sandbox.Rule(path: directory, access: .readAndWrite))
            }
        }
        for group in directories.groups.values {
            rules.append(Sandbox.Rule(path: group, access: access))
        }
        let temporary = directories.temporaryDirectory
        rules.append(Sandbox.Rule(path: temporary, access: .readAndWrite))
        return rules
    }
}
