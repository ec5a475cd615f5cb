internal import MigrationSystem

/// What an extension's process may reach.
enum ExtensionSandbox {
    /// Makes the sandbox of `program` of what the system has, and says what it confines.
    ///
    /// - Throws: ``MigrationError`` of code `confinementUnavailable` where one is required that the
    ///   system can't make.
    static func make(
        for program: ByteString,
        in place: SessionPlace,
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
            return (Sandbox(rules: try rules(for: program, in: place), by: support), report)
        }
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
        if let holder = place.importDirectory?.holder {
            // An extension may remove the import directory, or move it as a whole.
            rules.append(Sandbox.Rule(path: holder.path, access: .readAndWrite))
        } else {
            rules.append(Sandbox.Rule(path: place.container.rootPath.path, access: access))
            if let directory = place.importDirectory?.path {
                rules.append(Sandbox.Rule(path: directory.path, access: .readAndWrite))
            }
        }
        for group in place.groups.values {
            rules.append(Sandbox.Rule(path: group.path, access: access))
        }
        let temporary = place.temporaryDirectory.path
        rules.append(Sandbox.Rule(path: temporary, access: .readAndWrite))
        return rules
    }
}
