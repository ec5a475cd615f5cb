internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate android manifest`: shows or writes the manifest that accompanies data for iOS.
struct AndroidManifestCommand: Command {
    private var file: BytePath = ""
    private var rulesFile: BytePath?
    private var packageName: String?
    private var signatures: [String] = []
    private var app: AppIdentity?
    var common = CommonOptions()

    static let name = "android manifest"
    static let abstract = "Show a _cross_platform_manifest, or write the one that rules ask for."

    static var arguments: [Argument<Self>] {
        [
            Argument("manifest", as: .path, to: \.file)
                .help("The manifest to show; with --rules, the one to write.")
        ]
    }

    private static let rules = Flag<Self>("rules", value: "file", as: .path, to: \.rulesFile)
        .help("Write a manifest with the apps that these rules declare.")

    private static let package = Flag<Self>("package", value: "name", as: .text, to: \.packageName)
        .help("The app's package name, for the manifest to write.")

    static var flags: [Flag<Self>] {
        rules.needing(package)
        package.needing(rules)
        Flag("signature", value: "hash", as: .certificateHash, appendingTo: \.signatures)
            .help(
                "The SHA-256 hash of the certificate that signs the app, in hexadecimal digits; "
                    + "may be repeated."
            )
            .needing(rules)
        Flag.force(replacing: "a file").needing(rules)
        Flag.appIdentity(to: \.app)
        Flag.json
    }

    static let examples: Examples = [
        "Show a manifest.": "migrate android manifest _cross_platform_manifest",
        "Check that the data is meant for an app.":
            "migrate android manifest manifest --app-id ABCDE12345.com.example.notes",
        "Write the manifest that rules ask for.":
            "migrate android manifest new --rules rules.xml --package com.example.notes",
    ]

    var subject: String { PrintableText.escaping(file) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let manifest: CrossPlatformManifest
        if let rulesFile, let packageName {
            manifest = CrossPlatformManifest(
                package: packageName,
                parameters: try RulesFile.read(rulesFile, of: "--rules").parameters,
                signatures: signatures
            )
            if let app { _ = try manifest.parameters(for: app) }
            try await BackupOperations.write(
                manifest,
                to: .file(path: file, replacesExisting: common.replacesExisting)
            )
        } else {
            manifest = try CrossPlatformManifest(InputFile.read(file))
        }
        if let app { _ = try manifest.parameters(for: app) }
        try common.answer(with: ManifestAnswer(manifest), on: context.console)
        return .success
    }
}

extension ValueReader where Value == String {
    /// The SHA-256 hash of a certificate.
    fileprivate static var certificateHash: Self {
        text.map { (hash) throws(ValueError) in
            guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
                throw .message("option '--signature' takes 64 hexadecimal digits")
            }
            return hash
        }
    }
}
