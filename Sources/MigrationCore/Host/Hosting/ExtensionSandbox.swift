internal import MigrationSystem

/// What an extension's process may reach.
enum ExtensionSandbox {
    /// Makes the sandbox of `program`, and says what it confines.
    ///
    /// - Throws: ``MigrationError`` of code `confinementUnavailable` where one is required that the
    ///   system can't make.
    static func make(
        for program: ByteString,
        in place: SessionPlace,
        policy: MigrationExtension.ConfinementPolicy
    ) throws(MigrationError) -> (Sandbox?, ConfinementReport) {
        let support = Sandbox.support
        let isPossible = support.landlockVersion > 0 && support.filtersSystemCalls
        guard policy != .none, isPossible else {
            guard policy != .required else {
                let message =
                    "this system can't confine an extension (Landlock \(support.landlockVersion), "
                    + "system call filter: \(support.filtersSystemCalls ? "yes" : "no"))"
                throw MigrationError(.confinementUnavailable, message)
            }
            let reason =
                policy == .none ? "no confinement was asked for" : "the system can't confine"
            return (nil, ConfinementReport(lackingBecause: reason))
        }
        let report = ConfinementReport(
            isConfined: true,
            landlockVersion: support.landlockVersion,
            filtersSystemCalls: true,
            gaps: gaps(support.landlockVersion)
        )
        return (Sandbox(rules: try rules(for: program, in: place)), report)
    }

    private static func rules(
        for program: ByteString,
        in place: SessionPlace
    ) throws(MigrationError) -> [Sandbox.Rule] {
        let access: Sandbox.Access = place.role == .importing ? .readAndWrite : .read
        var rules: [Sandbox.Rule]
        do {
            rules = try Sandbox.rules(forRunning: program)
        } catch {
            let message = "the extension can't be read"
            throw MigrationError(.extensionUnsuitable, message, path: program, cause: error)
        }
        rules.append(Sandbox.Rule(path: place.container.rootPath.path, access: access))
        for group in place.groups.values {
            rules.append(Sandbox.Rule(path: group.path, access: access))
        }
        if let directory = place.importDirectory {
            rules.append(Sandbox.Rule(path: directory.path, access: .readAndWrite))
        }
        let temporary = place.temporaryDirectory.path
        rules.append(Sandbox.Rule(path: temporary, access: .readAndWrite))
        return rules
    }

    /// What Landlock of this version, and the filter of system calls, leave open.
    private static func gaps(_ version: Int) -> [String] {
        var gaps = ["the names, sizes and times of files anywhere (stat)"]
        gaps.append(
            "the modes, times and attributes of the user's own files anywhere (chmod, utimes)"
        )
        gaps.append("what /proc tells everybody of a process whose number is known")
        if version < 3 { gaps.append("cutting files short (truncate)") }
        if version < 6 { gaps.append("signals to other processes of the same user") }
        return gaps
    }
}
