/// A mistake or a surprise in a rules file.
public struct LintFinding: Hashable, Sendable, Codable {
    /// The kind of finding, for scripts.
    public enum Code: String, CaseIterable, Hashable, Sendable, Codable {
        case allowBackupFalse = "allow-backup-false"
        case databaseSidecarNote = "database-sidecar-note"
        case deadRule = "dead-rule"
        case deviceBoundSecret = "device-bound-secret"
        case deviceDomainsSent = "device-domains-sent"
        case deviceExternalDomain = "device-external-domain"
        case dotSlashPathLint = "dot-slash-path-lint"
        case duplicateSection = "duplicate-section"
        case emptySection = "empty-section"
        case excludeOutsideIncludes = "exclude-outside-includes"
        case excludeParentOfInclude = "exclude-parent-of-include"
        case invalidIdentifier = "invalid-identifier"
        case invalidPath = "invalid-path"
        case invalidSetting = "invalid-setting"
        case keyValueAgent = "key-value-agent"
        case mergedManifest = "merged-manifest"
        case missingAttribute = "missing-attribute"
        case missingParams = "missing-params"
        case missingPlatform = "missing-platform"
        case missingSection = "missing-section"
        case neverSentInclude = "never-sent-include"
        case noApplication = "no-application"
        case noCrossPlatformSection = "no-cross-platform-section"
        case notRulesFile = "not-rules-file"
        case onlyIncludeInvalid = "only-include-invalid"
        case parserAbort = "parser-abort"
        case requireFlagsIgnored = "require-flags-ignored"
        case rootExcludeMisunderstood = "root-exclude-misunderstood"
        case rootIncludeMisunderstood = "root-include-misunderstood"
        case ruleBytes = "rule-bytes"
        case rulesNotNamed = "rules-not-named"
        case sharedPrefWithoutXML = "sharedpref-without-xml"
        case subdirectoryPathLint = "subdirectory-path-lint"
        case unknownDomain = "unknown-domain"
        case unknownPlatform = "unknown-platform"
        case unknownSection = "unknown-section"
        case unknownSetting = "unknown-setting"
        case unnamedData = "unnamed-data"
        case wildcardPath = "wildcard-path"
    }

    /// The severity.
    public enum Severity: String, Hashable, Sendable, Codable {
        /// The rules don't do what they say.
        case error
        /// The rules may not do what was meant.
        case warning
        /// Additional information.
        case note
    }

    /// The kind of finding.
    public let code: Code

    /// The severity.
    public let severity: Severity

    /// The line of the element.
    public let line: Int

    /// The problem and its effect, in one sentence.
    public let message: String

    /// How to fix it.
    public let fix: String
}

extension [LintFinding] {
    /// Appends a finding.
    mutating func report(
        _ code: LintFinding.Code,
        severity: LintFinding.Severity,
        line: Int,
        message: String,
        fix: String
    ) {
        let finding = LintFinding(
            code: code,
            severity: severity,
            line: line,
            message: message,
            fix: fix
        )
        append(finding)
    }
}
