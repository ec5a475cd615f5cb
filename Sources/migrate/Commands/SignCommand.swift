import MigrationArchive
import MigrationCore

/// `migrate sign`: says with an SSH key that an archive is what its maker made.
struct SignCommand: Command {
    static let description = CommandDescription(
        name: "sign",
        abstract: "Sign an archive with an SSH key, after every frame was checked.",
        arguments: [.archive],
        options: [
            OptionDescription(
                name: "key",
                help: "The private key, or the public one where an agent has the private one.",
                valueName: "file",
                isRequired: true,
                completion: .file
            ),
            SignatureOptions.signature(
                "The signature to make; by default the archive's name with .sig."
            ),
            .force(replacing: "a signature"),
        ] + DecryptionOptions.descriptions + [.progress]
    )

    let archive: ArchiveName
    let key: [UInt8]
    let signature: [UInt8]
    let replacesExisting: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(signature) : subject
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        key = try arguments.path("key")
        signature = try SignatureOptions.path(of: archive, arguments)
        replacesExisting = arguments.has("force")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let inspection = try await ProgressDisplay.showing(progress, on: context.console) {
            try await source.verify(.hashes, progress: $0)
        }
        try ArchiveStatement(inspection).sign(
            keyPath: key,
            toPath: signature,
            replacingExisting: replacesExisting
        )
        let name = PrintableText.escaping(signature)
        try context.console.output.write("\(name): signature of \(archive.sourceText)\n")
        return .success
    }
}

/// What the command line says of a signature that must be there.
enum SignatureOptions {
    static func signature(_ help: String) -> OptionDescription {
        OptionDescription(name: "signature", help: help, valueName: "file", completion: .file)
    }

    /// What says in so many words that there must be a signature, and fails where no signer is named.
    static let requirement = OptionDescription(
        name: "require-signature",
        help: "Refuse an archive that '--signer' has not signed, as '--signer' alone does.",
        companion: "signer"
    )

    /// The options of commands that check a signature.
    static let descriptions = [
        OptionDescription(
            name: "allowed-signers",
            help: "A file of names and public keys, as ssh-keygen takes it: who may have signed.",
            valueName: "file",
            completion: .file,
            companion: "signer"
        ),
        OptionDescription(
            name: "signer",
            help: "The name among the allowed signers that must have signed the archive.",
            valueName: "name",
            companion: "allowed-signers"
        ),
        signature("The signature; by default the archive's name with .sig."),
    ]

    /// The signature that `arguments` require; `nil` where they require none.
    static func read(
        _ archive: ArchiveName,
        _ arguments: ParsedArguments
    ) throws(UsageError) -> RequiredSignature? {
        guard let signer = try arguments.text("signer") else {
            guard !arguments.isGiven("signature") else {
                throw UsageError("option '--signature' needs '--allowed-signers' and '--signer'")
            }
            return nil
        }
        return RequiredSignature(
            signaturePath: try path(of: archive, arguments),
            allowedSignersPath: try arguments.path("allowed-signers"),
            signer: signer
        )
    }

    /// Where the signature of `archive` lies.
    static func path(
        of archive: ArchiveName,
        _ arguments: ParsedArguments
    ) throws(UsageError) -> [UInt8] {
        if arguments.isGiven("signature") { return try arguments.path("signature") }
        guard !archive.isStandardStream else {
            throw UsageError("with '-' for the archive, '--signature' names the signature")
        }
        return archive.bytes + [UInt8](".sig".utf8)
    }
}
