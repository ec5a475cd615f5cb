internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate sign`: signs an archive with an SSH key.
struct SignCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var key: BytePath = ""
    private var signature: BytePath?
    var common = CommonOptions()

    static let name = "sign"
    static let abstract = "Sign an archive with an SSH key, after checking every frame."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    static var flags: [Flag<Self>] {
        Flag("key", value: "file", as: .path, to: \.key)
            .help("The private key, or the public one if an agent holds the private one.")
            .required
        SignatureFlags.signature(
            help: "The signature to write; by default the archive's name with '.sig' after it.",
            to: \.signature
        )
        Flag.force(replacing: "a signature")
        DecryptionFlags.included(at: \.keys)
        Flag.progress
    }

    static let examples: Examples = [
        "Sign an archive; the signature is notes.tar.zst.sig.":
            "migrate sign notes.tar.zst --key ~/.ssh/id_ed25519",
        "Sign by an agent that holds the private key.":
            "migrate sign notes.tar.zst --key ~/.ssh/id_ed25519.pub",
        "Write the signature elsewhere.":
            "migrate sign notes.tar.zst --key id_ed25519 --signature signatures/notes",
    ]

    mutating func check() throws(UsageError) {
        signature = try SignatureFlags.path(signature, of: archive)
    }

    private var signaturePath: BytePath { signature ?? "" }

    var subject: String { archive.sourceText }

    var outputSubject: String { PrintableText.escaping(signaturePath) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(on: context.console, keys: keys)
        let inspection = try await common.showingProgress(on: context.console) {
            try await source.verify(.hashes, progress: $0)
        }
        try ArchiveStatement(inspection).sign(
            keyPath: key,
            toPath: signaturePath,
            replacesExisting: common.replacesExisting,
            on: MigrationOperation(cancellation: SignalWatch.interruption)
        )
        let name = PrintableText.escaping(signaturePath)
        try context.console.output.write("\(name): signature of \(archive.sourceText)\n")
        return .success
    }
}
