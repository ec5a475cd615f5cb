import AndroidMigration
import MigrationArchive
import MigrationCore

/// `migrate android manifest`: reads or writes the manifest that goes with data for iOS.
struct AndroidManifestCommand: Command {
    static let description = CommandDescription(
        name: "android manifest",
        abstract: "Show a _cross_platform_manifest, or write the one that rules ask for.",
        arguments: [
            ArgumentDescription(
                name: "manifest",
                help: "The manifest to show; with --rules the one to write.",
                completion: .file
            )
        ],
        options: [
            OptionDescription(
                name: "rules",
                help: "Write a manifest with the apps that these rules declare.",
                valueName: "file",
                completion: .file,
                companion: "package"
            ),
            OptionDescription(
                name: "package",
                help: "The app's package name, for the manifest that is written.",
                valueName: "name",
                companion: "rules"
            ),
            OptionDescription(
                name: "signature",
                help: "The SHA-256 hash of the certificate that signs the app, in hexadecimal "
                    + "digits; may be given again.",
                valueName: "hash",
                isRepeatable: true,
                companion: "rules"
            ),
            .force(replacing: "a file").with("rules"),
            .appIdentity, .json,
        ]
    )

    let file: [UInt8]
    let rules: [UInt8]?
    let package: String?
    let signatures: [String]
    let replacesExisting: Bool
    let app: AppIdentity?
    let answersInJSON: Bool

    var subject: String { PrintableText.escaping(file) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        file = try arguments.path(at: 0, "manifest")
        rules = try arguments.optionalPath("rules")
        package = try arguments.text("package")
        signatures = try arguments.texts("signature")
        for signature in signatures
        where signature.utf8.count != 64 || !signature.allSatisfy(\.isHexDigit) {
            throw UsageError("option '--signature' takes 64 hexadecimal digits")
        }
        replacesExisting = arguments.has("force")
        app = try arguments.appIdentity
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let manifest: CrossPlatformManifest
        if let rules, let package {
            let parameters = try RulesFile(InputFile.read(rules)).parameters
            manifest = CrossPlatformManifest(
                package: package,
                parameters: parameters,
                signatures: signatures
            )
            if let app { _ = try manifest.parameters(for: app) }
            try await BackupOperations.write(
                manifest,
                to: .file(path: file, replacingExisting: replacesExisting)
            )
        } else {
            manifest = try CrossPlatformManifest(InputFile.read(file))
        }
        if let app { _ = try manifest.parameters(for: app) }
        try context.console.output.write(ManifestAnswer(manifest), inJSON: answersInJSON)
        return .success
    }
}
