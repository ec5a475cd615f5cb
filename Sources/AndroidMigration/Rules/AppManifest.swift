internal import MigrationArchive
internal import MigrationSystem

/// The backup settings in an app's `AndroidManifest.xml`.
public struct AppManifest: Sendable {
    /// A boolean attribute, as parsed by Android's build tools.
    enum Setting: Equatable, Sendable {
        case value(Bool)
        /// A resource or a placeholder, which only a build resolves.
        case unknown(String)
        /// Text that the build tools reject.
        case invalid(String)
    }

    /// The package's name, if the file contains it.
    public let package: String?

    /// Whether the app allows backups.
    ///
    /// That is the default, even if the setting isn't known.
    public var allowsBackup: Bool { backup != .value(false) }

    /// The API level that the app targets, if the file has it.
    public let targetVersion: Int?

    /// The line of the application's element; `nil` if there is none.
    let applicationLine: Int?

    /// `allowBackup`, by default `true`.
    let backup: Setting

    /// `fullBackupOnly`, by default `false`.
    let isFullBackupOnly: Setting

    /// The class of the app's own backup agent.
    let agent: String?

    /// The resource of the rules since Android 12, as in the attribute.
    let extractionRules: String?

    /// The resource of the older rules, `true` or `false`, as in the attribute.
    let fullBackupContent: String?

    private static let namespace = "http://schemas.android.com/apk/res/android|"

    /// Reads a manifest.
    ///
    /// - Parameter bytes: The file's content, in UTF-8 or UTF-16; binary XML is refused.
    /// - Throws: ``AndroidMigrationError`` of code `notAManifest` if the bytes are not a manifest.
    public init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        let root: XMLElement
        do throws(XMLProblem) {
            root = try XMLFile.root(of: bytes)
        } catch {
            throw AndroidMigrationError(.notAManifest, error.message, line: error.line)
        }
        guard root.name == "manifest" else {
            let message = "not an AndroidManifest.xml: it does not begin with 'manifest'"
            throw AndroidMigrationError(.notAManifest, message, line: root.line)
        }
        package = root["package"]
        let application = root.children.first { $0.name == "application" }
        func attribute(_ name: String) -> String? { application?[Self.namespace + name] }
        backup = Setting(attribute("allowBackup"), byDefault: true)
        isFullBackupOnly = Setting(attribute("fullBackupOnly"), byDefault: false)
        agent = attribute("backupAgent")
        extractionRules = attribute("dataExtractionRules")
        fullBackupContent = attribute("fullBackupContent")
        applicationLine = application?.line
        targetVersion = root.children.first { $0.name == "uses-sdk" }
            .flatMap { $0[Self.namespace + "targetSdkVersion"] }
            .flatMap { Int($0) }
    }
}

extension AppManifest.Setting {
    /// Reads an attribute as aapt2 does (ResourceUtils, ParseBool).
    fileprivate init(_ text: String?, byDefault value: Bool) {
        self =
            switch text {
            case nil: .value(value)
            case "true", "TRUE", "True": .value(true)
            case "false", "FALSE", "False": .value(false)
            case let text? where AppManifest.isReference(text): .unknown(text)
            case let text?: .invalid(text)
            }
    }
}

extension AppManifest {
    /// Whether an attribute names a resource, or a placeholder that a build fills in.
    fileprivate static func isReference(_ text: String) -> Bool {
        text.hasPrefix("@") || text.hasPrefix("?") || text.contains("${")
    }

    /// A reason why the rules in a file have no effect.
    struct Obstacle: Sendable {
        /// The kind of reason.
        enum Kind: Sendable {
            case invalidSetting, keyValueAgent, noApplication, rulesNotNamed
        }

        let kind: Kind
        let message: String
        let fix: String
    }

    /// The reasons why the rules in `file` have no effect.
    func obstacles(to file: RulesFile) -> [Obstacle] {
        guard applicationLine != nil else {
            let message = "the manifest has no 'application', so it allows and names nothing"
            let fix = "give the app's manifest, best the merged one of its build"
            return [Obstacle(kind: .noApplication, message: message, fix: fix)]
        }
        var obstacles: [Obstacle] = []
        for (name, setting) in [("allowBackup", backup), ("fullBackupOnly", isFullBackupOnly)] {
            guard case .invalid(let text) = setting else { continue }
            let message =
                "the manifest says \(name)=\"\(PrintableText.escaping(text))\", which is neither true "
                + "nor false, and the build fails"
            let fix = "write android:\(name)=\"true\" or \"false\""
            obstacles.append(Obstacle(kind: .invalidSetting, message: message, fix: fix))
        }
        return obstacles + agentObstacles + namingObstacles(to: file)
    }

    private var agentObstacles: [Obstacle] {
        guard let agent, isFullBackupOnly == .value(false) else { return [] }
        let message =
            "the manifest names the backup agent '\(PrintableText.escaping(agent))' without "
            + "fullBackupOnly: the app backs up key-value pairs, and the rules count for nothing"
        let fix = "set android:fullBackupOnly=\"true\", or take the agent out"
        return [Obstacle(kind: .keyValueAgent, message: message, fix: fix)]
    }

    private func namingObstacles(to file: RulesFile) -> [Obstacle] {
        let attribute = file.isLegacy ? "fullBackupContent" : "dataExtractionRules"
        let named = file.isLegacy ? fullBackupContent : extractionRules
        let shown = PrintableText.escaping(file.name ?? "backup_rules")
        let fix = "set android:\(attribute)=\"@xml/\(shown)\""
        guard let named, !(file.isLegacy && named == "true") else {
            let message =
                "the manifest names no rules: it has no android:\(attribute), so Android does not read "
                + "this file"
            return [Obstacle(kind: .rulesNotNamed, message: message, fix: fix)]
        }
        guard let name = file.name, !named.contains("${"), named != "@xml/\(name)",
            !named.hasSuffix(":xml/\(name)")
        else { return [] }
        let message =
            "the manifest says android:\(attribute)=\"\(PrintableText.escaping(named))\", so Android "
            + "does not read this file, '\(shown)'"
        return [Obstacle(kind: .rulesNotNamed, message: message, fix: fix)]
    }

    /// The settings that only a build resolves, as in the manifest.
    var unknownSettings: [String] {
        var settings: [String] = []
        for (name, setting) in [("allowBackup", backup), ("fullBackupOnly", isFullBackupOnly)] {
            if case .unknown(let text) = setting { settings.append("\(name)=\"\(text)\"") }
        }
        for (name, text) in [
            ("dataExtractionRules", extractionRules), ("fullBackupContent", fullBackupContent),
        ] {
            if let text, text.contains("${") { settings.append("\(name)=\"\(text)\"") }
        }
        return settings.map { PrintableText.escaping($0) }
    }
}
