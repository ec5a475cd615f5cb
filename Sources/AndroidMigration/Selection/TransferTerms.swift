internal import MigrationArchive

/// The terms of a transfer, apart from any file: the rules that apply, and whether the
/// app takes part.
struct TransferTerms: Sendable {
    let rules: [BackupRule]
    /// The flags that `requireFlags` is compared with; `nil` in the newer format, which ignores them
    /// (FullBackup, getRequiredFlagsForRule).
    let flags: Set<TransportFlag>?
    let isEligible: Bool
    let reasons: [String]

    /// Why Android's parser gives up; the app then takes part, but sends nothing.
    let abort: RulesFile.Abort?

    /// From this API level on, the older format doesn't apply between devices (Android 12).
    private static let releaseOfNewFormat = 31

    init(
        _ file: RulesFile,
        section: RuleSection,
        manifest: AppManifest?,
        canEncrypt: Bool
    ) {
        let sections = file.sections(of: section)
        rules = sections.flatMap(\.rules)
        abort = sections.compactMap(\.abort).first
        flags = section == .legacy ? (canEncrypt ? [.clientSideEncryption] : []) : nil
        let obstacles = Self.obstacles(
            in: file,
            section: section,
            manifest: manifest,
            canEncrypt: canEncrypt
        )
        isEligible = obstacles.isEmpty
        var notes: [String] = []
        if let abort {
            notes.append(
                "Android's parser gives up at line \(abort.line) (\(abort.reason)): nothing is sent, "
                    + "and nobody is told"
            )
        }
        if obstacles.isEmpty, sections.isEmpty {
            notes.append(
                "the file has no '\(section.elementName)', so everything is sent"
                    + (section == .cloud ? " that the older format's file does not exclude" : "")
            )
        }
        if let settings = manifest?.unknownSettings, !settings.isEmpty {
            notes.append("only a build knows \(settings.joined(separator: ", "))")
        }
        reasons = obstacles + notes
    }

    /// Why the app doesn't take part (BackupEligibilityRules).
    private static func obstacles(
        in file: RulesFile,
        section: RuleSection,
        manifest: AppManifest?,
        canEncrypt: Bool
    ) -> [String] {
        var obstacles: [String] = []
        let isModern = (manifest?.targetVersion ?? releaseOfNewFormat) >= releaseOfNewFormat
        if let manifest {
            if !manifest.allowsBackup, section != .device || !isModern {
                obstacles.append("the manifest says allowBackup=\"false\"")
            }
            obstacles += manifest.obstacles(to: file).map(\.message)
        }
        switch section {
        case .crossPlatform: obstacles += crossPlatformObstacles(file)
        case .cloud, .device:
            if file.isLegacy {
                obstacles.append(
                    "the file is of the format before Android 12: preview it as 'legacy'"
                )
            }
            let sections = file.sections(of: section)
            if section == .cloud, !canEncrypt, sections.contains(where: \.disablesWithoutEncryption)
            {
                obstacles.append(
                    "disableIfNoEncryptionCapabilities is set, and the transport can't encrypt"
                )
            }
        case .legacy:
            if !file.isLegacy { obstacles.append("the file has no 'full-backup-content'") }
        }
        return obstacles
    }

    private static func crossPlatformObstacles(_ file: RulesFile) -> [String] {
        let sections = file.sections.filter { $0.kind == .crossPlatform }
        if sections.isEmpty { return ["the file has no 'cross-platform-transfer' section"] }
        if file.sections(of: .crossPlatform).isEmpty {
            return ["no 'cross-platform-transfer' says platform=\"ios\""]
        }
        if file.parameters.isEmpty {
            return ["'cross-platform-transfer' has no 'platform-specific-params'"]
        }
        return file.parameters.contains(where: \.canMatch)
            ? [] : ["no app on iOS matches the 'bundleId' and 'teamId' of the rules"]
    }
}
