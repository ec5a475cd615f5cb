public import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// What a signature says of an archive: its content, the app, and the version of the data's format.
///
/// The fingerprint stands for the content, so that a signature also holds for the same archive
/// encrypted, or no longer encrypted.
public struct ArchiveStatement: Sendable, Hashable {
    /// The bytes that are signed.
    let text: [UInt8]

    /// For what a signature is made (`ssh-keygen -n`), so that none made for anything else counts.
    static let namespace = "archive@migration"

    /// Makes the statement about an archive.
    ///
    /// - Parameter inspection: What the archive is, once it was verified.
    /// - Throws: `ArchiveError` of code `unsupported` for the tar file of another program, which has
    ///   no fingerprint.
    public init(_ inspection: ArchiveInspection) throws {
        try self.init(inspection.header, inspection.fingerprint)
    }

    /// Makes the statement about an archive that was just written.
    ///
    /// - Parameter report: What its export reported.
    public init(_ report: ExportReport) {
        text = Self.text(report.header, report.fingerprint)
    }

    init(_ header: ArchiveHeader?, _ fingerprint: Fingerprint?) throws(ArchiveError) {
        guard let header, let fingerprint else {
            let message = "only a migration archive has a fingerprint that can be signed"
            throw ArchiveError(.unsupported, message)
        }
        text = Self.text(header, fingerprint)
    }

    private static func text(_ header: ArchiveHeader, _ fingerprint: Fingerprint) -> [UInt8] {
        let lines = [
            "migration archive 1",
            "fingerprint \(fingerprint)",
            "app \(PrintableText.escaping(header.bundleIdentifier))",
            "version \(PrintableText.escaping(header.resourcesVersion))",
        ]
        return lines.flatMap { [UInt8]("\($0)\n".utf8) }
    }

    /// Signs the statement with an SSH key, and writes the signature beside the archive.
    ///
    /// `ssh-keygen` does it, so that agents, hardware keys and keys with a passphrase work; it asks at
    /// the terminal itself.
    ///
    /// - Parameters:
    ///   - key: The file of the private key, or of the public key where an agent has the private one.
    ///   - file: The signature, which appears whole or not at all.
    ///   - replacingExisting: Whether a file that is there is replaced; otherwise it is an error.
    /// - Throws: ``MigrationError`` of code `signingFailed` where there is no `ssh-keygen`, it is too
    ///   old, or it refuses the key, and of codes `outputExists` and `outputFailed`.
    public func sign(key: URL, to file: URL, replacingExisting: Bool = false) throws {
        try sign(
            keyPath: ByteString(pathOf: key),
            toPath: ByteString(pathOf: file),
            replacingExisting: replacingExisting
        )
    }

    /// Signs with the key at a path of any bytes.
    package func sign(
        keyPath: [UInt8],
        toPath path: [UInt8],
        replacingExisting: Bool
    ) throws {
        let words = [
            "-q", "-Y", "sign", "-f", String(decoding: keyPath, as: UTF8.self), "-n",
            Self.namespace,
        ]
        let result = try SSHKeygen.run(words, input: text, showsErrors: true)
        guard result.isSuccess, !result.output.isEmpty else {
            let problem = "ssh-keygen does not sign with this key"
            throw MigrationError(.signingFailed, problem, path: keyPath)
        }
        do throws(SystemError) {
            let file = try PendingFile.make(
                at: PathName(resolving: path),
                replacingExisting: replacingExisting
            )
            do throws(SystemError) {
                try file.file.descriptor.writeAll(result.output.span)
            } catch {
                file.discard()
                throw error
            }
            try file.commit()
        } catch {
            throw MigrationError(
                error.isExisting ? .outputExists : .outputFailed,
                error.isExisting
                    ? "a signature of that name is there already; it is replaced only on request"
                    : "the signature can't be written",
                path: path,
                cause: error.isExisting ? nil : error
            )
        }
    }
}

/// Who must have signed an archive.
public struct RequiredSignature: Sendable {
    private let signature: [UInt8]
    private let allowedSigners: [UInt8]
    private let signer: String

    /// Requires a signature.
    ///
    /// - Parameters:
    ///   - signature: The file of the signature.
    ///   - allowedSigners: A file of names and public keys, as `ssh-keygen(1)` describes it under
    ///     *ALLOWED SIGNERS*.
    ///   - signer: The name in it that must have signed.
    public init(signature: URL, allowedSigners: URL, signer: String) {
        self.init(
            signaturePath: ByteString(pathOf: signature),
            allowedSignersPath: ByteString(pathOf: allowedSigners),
            signer: signer
        )
    }

    /// Requires the signature in files at paths of any bytes.
    package init(signaturePath: [UInt8], allowedSignersPath: [UInt8], signer: String) {
        signature = signaturePath
        allowedSigners = allowedSignersPath
        self.signer = signer
    }

    /// Throws unless the signer has signed `statement`.
    ///
    /// - Parameter statement: What must be signed.
    /// - Returns: What `ssh-keygen` says of the signature: the signer and the key.
    /// - Throws: ``MigrationError`` of code `signatureInvalid` where the signature is missing, of
    ///   another archive, of another key or out of its time, and of code `signingFailed` where there is
    ///   no `ssh-keygen`, or it is too old.
    @discardableResult
    public func check(_ statement: ArchiveStatement) throws -> String {
        for (path, name) in [(signature, "signature"), (allowedSigners, "file of signers")] {
            do throws(SystemError) {
                _ = try FileDescriptor.openFollowingLinks(path, .reading)
            } catch {
                let message = "the \(name) can't be read"
                throw MigrationError(.signatureInvalid, message, path: path, cause: error)
            }
        }
        let words = [
            "-Y", "verify", "-f", String(decoding: allowedSigners, as: UTF8.self), "-I", signer,
            "-n", ArchiveStatement.namespace, "-s", String(decoding: signature, as: UTF8.self),
        ]
        let result = try SSHKeygen.run(words, input: statement.text, showsErrors: false)
        guard result.isSuccess else {
            let name = PrintableText.escaping(signer)
            let message = "the archive is not signed by \(name): \(result.errors)"
            throw MigrationError(.signatureInvalid, message, path: signature)
        }
        let output = String(decoding: result.output, as: UTF8.self)
        return PrintableText.escaping(output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
