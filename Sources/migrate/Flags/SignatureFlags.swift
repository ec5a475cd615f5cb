internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags that require a signature of an archive.
struct SignatureFlags: FlagGroup {
    private var signature: BytePath?
    private var allowedSigners: BytePath?
    private var signer: String?
    private var isRequired = false

    static let topic: FlagTopic? = .signature

    private static let allowedSigners = Flag<Self>(
        "allowed-signers",
        value: "file",
        as: .path,
        to: \.allowedSigners
    )
    .help("A file of names and public keys that may have signed, in ssh-keygen's format.")

    private static let signer = Flag<Self>("signer", value: "name", as: .text, to: \.signer)
        .help("The name among the allowed signers that must have signed the archive.")

    /// Says explicitly that there must be a signature, and fails if no signer is named.
    static let requirement = Flag<Self>("require-signature", sets: \.isRequired)
        .help("Refuse an archive that '--signer' has not signed, as '--signer' alone does.")
        .needing(signer)

    static var flags: [Flag<Self>] {
        allowedSigners.needing(signer)
        signer.needing(allowedSigners)
        signature(
            help: "The signature; by default the archive's name with '.sig' after it.",
            to: \.signature
        )
    }

    /// The flag that names a signature, stored at `path`.
    static func signature<Owner>(
        help: String,
        to path: Property<Owner, BytePath?>
    ) -> Flag<Owner> {
        Flag("signature", value: "file", as: .outputPath, to: path)
            .help(help)
            .about(.signature)
    }

    /// The signature that `archive` must have; `nil` if the flags require none.
    func requirement(for archive: ArchiveName) throws(UsageError) -> RequiredSignature? {
        guard let signer, let allowedSigners else {
            guard signature == nil else {
                throw UsageError("option '--signature' needs '--allowed-signers' and '--signer'")
            }
            return nil
        }
        return RequiredSignature(
            signaturePath: try Self.path(signature, of: archive),
            allowedSignersPath: allowedSigners,
            signer: signer
        )
    }

    /// The path of the signature of `archive`, which is `given` or beside the archive.
    static func path(_ given: BytePath?, of archive: ArchiveName) throws(UsageError) -> BytePath {
        if let given { return given }
        guard !archive.isStream else {
            let stream = archive.isStandardStream ? "'-'" : "a command"
            throw UsageError(
                "with \(stream) for the archive, '--signature' must name the signature"
            )
        }
        return BytePath(archive.path.bytes + Array(".sig".utf8))
    }
}
