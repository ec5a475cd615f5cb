internal import MigrationArchive
internal import MigrationSystem

/// A kind of transfer; a rules file can have a section for each.
public enum RuleSection: String, CaseIterable, Hashable, Sendable, Codable {
    /// A transfer to an app on iOS.
    case crossPlatform = "cross-platform"

    /// A backup in the cloud.
    case cloud

    /// A transfer from one Android device to another.
    case device

    /// The format before Android 12.
    case legacy

    /// The element that holds the section's rules.
    public var elementName: String {
        switch self {
        case .crossPlatform: "cross-platform-transfer"
        case .cloud: "cloud-backup"
        case .device: "device-transfer"
        case .legacy: "full-backup-content"
        }
    }
}

/// A file of backup rules: `data-extraction-rules`, or `full-backup-content` as before Android 12.
public struct RulesFile: Sendable {
    /// One element that holds rules.
    struct Section: Sendable {
        let kind: RuleSection
        let line: Int
        let platform: String?
        let disablesWithoutEncryption: Bool
        let parameters: [PlatformParameters]

        /// The attributes of parameter elements that no app on iOS can match, with the elements' lines.
        let flawedParameters: [FlawedParameter]
        let rules: [BackupRule]

        /// Why Android's parser silently gives up here; `nil` if it doesn't.
        let abort: Abort?
    }

    /// An attribute of a parameter element that is missing, or not in Apple's format.
    struct FlawedParameter: Sendable {
        let name: String
        /// The attribute's value; `nil` if it is missing.
        let value: String?
        let line: Int
    }

    struct Abort: Sendable {
        let line: Int
        let reason: String
    }

    let isLegacy: Bool
    let line: Int

    /// The name by which a manifest refers to the file, without its suffix; `nil` if it isn't
    /// known.
    package var name: String?
    let sections: [Section]

    /// The elements outside the sections, which Android ignores.
    let unknownElements: [(name: String, line: Int)]

    /// Reads a rules file.
    ///
    /// - Parameter bytes: The file's content, in UTF-8 or UTF-16.
    /// - Throws: ``AndroidMigrationError`` of code `notRules` if the bytes are not a rules file.
    public init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        let root: XMLElement
        do throws(XMLProblem) {
            root = try XMLFile.root(of: bytes)
        } catch {
            throw AndroidMigrationError(.notRules, error.message, line: error.line)
        }
        line = root.line
        switch root.name {
        case "data-extraction-rules":
            isLegacy = false
            sections = Self.sections(in: root)
            unknownElements = root.children
                .filter { Self.kind(of: $0) == nil }
                .map { ($0.name, $0.line) }
        case RuleSection.legacy.elementName:
            isLegacy = true
            sections = [Section(root, kind: .legacy)]
            unknownElements = []
        default:
            let name = PrintableText.escaping(root.name)
            let message =
                "no rules file: it begins with '\(name)' and not with 'data-extraction-rules' or "
                + "'full-backup-content'"
            throw AndroidMigrationError(.notRules, message, line: root.line)
        }
    }

    /// The sections at any depth except inside a section: Android only looks for their names.
    private static func sections(in element: XMLElement) -> [Section] {
        element.children.flatMap { child in
            kind(of: child).map { [Section(child, kind: $0)] } ?? sections(in: child)
        }
    }

    private static func kind(of element: XMLElement) -> RuleSection? {
        RuleSection.allCases.first { $0 != .legacy && $0.elementName == element.name }
    }

    /// The sections that apply to transfers of this kind.
    func sections(of kind: RuleSection) -> [Section] {
        sections.filter {
            $0.kind == kind && (kind != .crossPlatform || $0.platform == Self.platform)
        }
    }

    /// The only known platform (PlatformConfigParser).
    static let platform = "ios"

    /// The iOS apps that the app declares, from the last section that names any.
    package var parameters: [PlatformParameters] {
        sections(of: .crossPlatform).last { !$0.parameters.isEmpty }?.parameters ?? []
    }
}

/// An app on another platform, and the format of the data that it receives.
public struct PlatformParameters: Hashable, Sendable {
    /// The app's bundle identifier.
    public let bundleIdentifier: String

    /// The identifier of the team that signs the app.
    public let teamIdentifier: String

    /// The name of the data's format.
    public let contentVersion: String

    /// Makes parameters from their parts.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: The app's bundle identifier.
    ///   - teamIdentifier: The identifier of the team that signs the app.
    ///   - contentVersion: The name of the data's format.
    public init(bundleIdentifier: String, teamIdentifier: String, contentVersion: String) {
        (self.bundleIdentifier, self.teamIdentifier) = (bundleIdentifier, teamIdentifier)
        self.contentVersion = contentVersion
    }

    /// Whether an app on iOS can have both identifiers.
    var canMatch: Bool {
        Self.isBundleIdentifier(bundleIdentifier) && Self.isTeamIdentifier(teamIdentifier)
    }

    /// Whether `text` has the form of a bundle identifier (CFBundleIdentifier).
    static func isBundleIdentifier(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "-.".utf8.contains($0) }
    }

    /// Whether `text` has the form of a team identifier: ten capital letters and digits.
    static func isTeamIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text == text.uppercased() && text.utf8.allSatisfy(isLetterOrDigit)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}

// MARK: - Sections

extension RulesFile.Section {
    static let parametersName = "platform-specific-params"

    private static let parameterForms: [(name: String, isWellFormed: @Sendable (String) -> Bool)] =
        [
            ("bundleId", { PlatformParameters.isBundleIdentifier($0) }),
            ("teamId", { PlatformParameters.isTeamIdentifier($0) }),
            ("contentVersion", { !$0.isEmpty }),
        ]

    fileprivate init(_ element: XMLElement, kind: RuleSection) {
        self.kind = kind
        line = element.line
        platform = element["platform"]
        disablesWithoutEncryption = element["disableIfNoEncryptionCapabilities"] == "true"
        let parameterElements = element.children.filter { $0.name == Self.parametersName }
        parameters = parameterElements.map { element in
            PlatformParameters(
                bundleIdentifier: element["bundleId"] ?? "",
                teamIdentifier: element["teamId"] ?? "",
                contentVersion: element["contentVersion"] ?? ""
            )
        }
        flawedParameters = parameterElements.flatMap { element in
            Self.parameterForms
                .filter { !$0.isWellFormed(element[$0.name] ?? "") }
                .map { .init(name: $0.name, value: element[$0.name], line: element.line) }
        }
        rules = element.descendants.compactMap { element in
            BackupRule.Action(rawValue: element.name).map { action in
                BackupRule(
                    action: action,
                    domainName: element["domain"],
                    path: element["path"],
                    requireFlags: element["requireFlags"],
                    line: element.line
                )
            }
        }
        abort = Self.abort(in: element, kind)
    }

    /// Finds errors that make Android's parser throw (FullBackup, validateInnerTagContents).
    private static func abort(in element: XMLElement, _ kind: RuleSection) -> RulesFile.Abort? {
        for element in element.descendants {
            let count = element.attributes.count { !$0.name.hasPrefix(toolsNamespace) }
            let limit: Int
            switch element.name {
            case "include": limit = 3
            case "exclude": limit = 2
            case parametersName where kind == .crossPlatform: limit = 3
            default:
                let name = PrintableText.escaping(element.name)
                return RulesFile.Abort(line: element.line, reason: "'\(name)' may not be here")
            }
            guard count <= limit else {
                let reason = "'\(element.name)' has \(count) attributes and may have \(limit)"
                return RulesFile.Abort(line: element.line, reason: reason)
            }
        }
        return nil
    }

    /// The namespace of attributes that the build tools remove.
    private static let toolsNamespace = "http://schemas.android.com/tools|"
}
