internal import MigrationSystem

/// How far an extension was kept from what it is not for.
public struct ConfinementReport: Sendable, Codable, Equatable {
    /// Whether both files and system calls were confined; the rest says which of them was.
    public let isConfined: Bool

    /// The version of Landlock that confined its files; 0 where none did.
    public let landlockVersion: Int

    /// Whether its system calls were filtered.
    public let filtersSystemCalls: Bool

    /// Whether its process had a root directory of its own, in which other files have no names.
    ///
    /// Nothing can be learned of them there, and of what it may only read nothing changes, neither modes
    /// nor times nor owners. Where this is `false`, ``gaps`` says why.
    public let hidesOtherFiles: Bool

    /// What was not confined or bounded, a phrase each.
    public let gaps: [String]

    /// Whom it ran as, in a phrase; `nil` where it did not run in a process of its own.
    public let user: String?

    /// How much of the machine it could take, a phrase each.
    public let bounds: [String]
}

extension ConfinementReport {
    /// The report of an extension in its host's own process.
    static let ownProcess = ConfinementReport(lackingBecause: "it runs in its host's process")

    /// The report of an extension that nothing confines.
    init(lackingBecause reason: String) {
        isConfined = false
        landlockVersion = 0
        filtersSystemCalls = false
        hidesOtherFiles = false
        gaps = ["everything: \(reason)"]
        bounds = []
        user = nil
    }

    /// The same, of an extension that runs as `user`, or where that is `nil` as its host's user.
    func running(as user: UserIdentity?) -> ConfinementReport {
        let own = FileStatus.currentUser
        let other = user.map { "\($0.text), whose container it is, and with no right of root's" }
        let text = other ?? (own == 0 ? "root, whose container it is" : "user \(own)")
        let gaps = own == 0 && user == nil ? gaps : gaps.map(Self.withoutRoot)
        return ConfinementReport(
            isConfined: isConfined,
            landlockVersion: landlockVersion,
            filtersSystemCalls: filtersSystemCalls,
            hidesOtherFiles: hidesOtherFiles,
            gaps: gaps,
            user: text,
            bounds: bounds
        )
    }

    /// What a gap is to a process that is not root's.
    private static func withoutRoot(_ gap: String) -> String {
        gap.replacing(ownersOfRoot, with: "").replacing(kernelOfRoot, with: "")
    }

    private static let ownersOfRoot = ", for root the owners too"
    private static let kernelOfRoot = ", and root of the kernel"

    /// Whether an extension's process has a root directory of its own.
    enum Sight {
        case hidden
        case open(because: String)
    }

    /// The same, of an extension to which other files are hidden, or why they are not.
    func seeing(_ sight: Sight) -> ConfinementReport {
        guard landlockVersion > 0 || filtersSystemCalls else { return self }
        var isHidden = true
        var gaps = gaps.filter { !Self.gapsOfSight.contains($0) }
        if case .open(let reason) = sight {
            isHidden = false
            gaps = self.gaps.map {
                Self.gapsOfSight.contains($0) ? "\($0): no root of its own, \(reason)" : $0
            }
        }
        return ConfinementReport(
            isConfined: isConfined,
            landlockVersion: landlockVersion,
            filtersSystemCalls: filtersSystemCalls,
            hidesOtherFiles: isHidden,
            gaps: gaps,
            user: user,
            bounds: bounds
        )
    }

    /// The same, of an extension whose process is bounded, too.
    func bounded(by bounds: SessionBounds) -> ConfinementReport {
        let isOpen = landlockVersion == 0 && !filtersSystemCalls
        return ConfinementReport(
            isConfined: isConfined,
            landlockVersion: landlockVersion,
            filtersSystemCalls: filtersSystemCalls,
            hidesOtherFiles: hidesOtherFiles,
            gaps: isOpen ? gaps : gaps + bounds.gaps,
            user: user,
            bounds: bounds.phrases
        )
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

    /// What a root of its own closes.
    private static let gapsOfSight = [
        "the names, sizes, times, links and attributes of files anywhere (stat, readlink)",
        "the modes, times and attributes of the user's own files anywhere\(ownersOfRoot) (chmod, "
            + "utimes, setxattr, chown)",
    ]

    /// What Landlock of the version at hand, and the filter of system calls, leave open.
    private static func gaps(_ support: Sandbox.Support) -> [String] {
        var gaps =
            gapsOfSight + [
                "what /proc tells everybody of a process whose number is known\(kernelOfRoot)"
            ]
        if !support.confinesFiles {
            gaps.append("all files that the user may read or write (no Landlock)")
        } else if support.landlockVersion < 3 {
            gaps.append("cutting files short (truncate)")
        }
        if support.landlockVersion < 6 {
            gaps.append("signals to other processes of the same user")
        }
        if !support.filtersSystemCalls {
            gaps.append(
                "sockets, namespaces, System V objects, watches on files, the limits of other "
                    + "processes, and ways to outrun its end (no filter of system calls)"
            )
        }
        return gaps
    }
}

// MARK: - The sandbox

/// What an extension's process may reach.
enum ExtensionSandbox {
    /// Makes the sandbox of `program` of what the system has, and says what it confines.
    ///
    /// - Throws: ``MigrationError`` of code `confinementUnavailable` where one is required that the
    ///   system can't make.
    static func make(
        for program: ByteString,
        in directories: SessionDirectories,
        policy: MigrationExtension.ConfinementPolicy
    ) throws(MigrationError) -> (Sandbox?, ConfinementReport) {
        let support = Sandbox.support
        let report = ConfinementReport(of: support)
        switch policy {
        case .none:
            return (nil, ConfinementReport(lackingBecause: "no confinement was asked for"))
        case .required where !report.isConfined:
            let message =
                "this system can't confine an extension (Landlock \(support.landlockVersion), "
                + "system call filter: \(support.filtersSystemCalls ? "yes" : "no"))"
            throw MigrationError(.confinementUnavailable, message)
        case .required, .whereAvailable:
            guard support.confinesFiles || support.filtersSystemCalls else { return (nil, report) }
            return (Sandbox(rules: try rules(for: program, in: directories), by: support), report)
        }
    }

    private static func rules(
        for program: ByteString,
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
            rules.append(Sandbox.Rule(path: holder.path, access: .readAndWrite))
        } else {
            rules.append(Sandbox.Rule(path: directories.container.rootPath.path, access: access))
            if let directory = directories.importDirectory?.path {
                rules.append(Sandbox.Rule(path: directory.path, access: .readAndWrite))
            }
        }
        for group in directories.groups.values {
            rules.append(Sandbox.Rule(path: group.path, access: access))
        }
        let temporary = directories.temporaryDirectory.path
        rules.append(Sandbox.Rule(path: temporary, access: .readAndWrite))
        return rules
    }
}
