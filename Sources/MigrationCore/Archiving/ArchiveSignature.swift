public import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The statement that a signature confirms: an archive's content, its app, and the version of its
/// format.
///
/// The fingerprint represents the content, so a signature stays valid if the archive is encrypted
/// or decrypted later.
public struct ArchiveStatement: Sendable, Hashable {
    /// The signed bytes.
    fileprivate let text: [UInt8]

    /// The purpose of a signature (`ssh-keygen -n`), so that signatures for other purposes don't
    /// count.
    fileprivate static let namespace = "archive@migration"

    init(header: ArchiveHeader?, fingerprint: Fingerprint?) throws(ArchiveError) {
        guard let header, let fingerprint else {
            let message = "only a migration archive has a fingerprint that can be signed"
            throw ArchiveError(.unsupported, message)
        }
        self.init(header: header, fingerprint: fingerprint)
    }

    init(header: ArchiveHeader, fingerprint: Fingerprint) {
        let app = header.bundleIdentifier.map { "app \(PrintableText.escaping($0))" }
        let lines = [
            "migration archive 1", "fingerprint \(fingerprint)", app,
            "version \(PrintableText.escaping(header.resourcesVersion))",
        ]
        text = lines.compactMap(\.self).flatMap { [UInt8]("\($0)\n".utf8) }
    }

    /// Signs the statement with an SSH key, and writes the signature beside the archive.
    ///
    /// `ssh-keygen` makes the signature, so agents, hardware keys and keys with a passphrase work.
    /// It asks for a passphrase at the terminal.
    ///
    /// - Parameters:
    ///   - key: The file of the private key, or of the public key if an agent has the private one.
    ///   - file: The file of the signature, which appears completely or not at all.
    ///   - replacesExisting: Whether to replace an existing file; otherwise one is an error.
    /// - Throws: ``MigrationError`` of code `signingFailed` if `ssh-keygen` is missing, too old or
    ///   refuses the key, and of codes `outputExists` and `outputFailed`.
    public func sign(key: URL, to file: URL, replacesExisting: Bool = false) throws {
        try sign(
            keyPath: BytePath(of: key),
            toPath: BytePath(of: file),
            replacesExisting: replacesExisting
        )
    }

    /// Signs with the key at a path of any bytes.
    package func sign(
        keyPath: BytePath,
        toPath path: BytePath,
        replacesExisting: Bool
    ) throws {
        let words = [
            "-q", "-Y", "sign", "-f", String(decoding: keyPath.bytes, as: UTF8.self), "-n",
            Self.namespace,
        ]
        let result = try SSHKeygen.run(words, input: text, showsErrors: true)
        guard result.isSuccess, !result.output.isEmpty else {
            let problem = "ssh-keygen can't sign with this key"
            throw MigrationError(.signingFailed, problem, path: keyPath)
        }
        do throws(SystemError) {
            try PendingFile.write(
                result.output,
                at: BytePath(resolving: path),
                replacesExisting: replacesExisting
            )
        } catch {
            throw MigrationError(
                error.isExisting ? .outputExists : .outputFailed,
                error.isExisting
                    ? "a signature of that name already exists"
                    : "the signature can't be written",
                path: path,
                cause: error.isExisting ? nil : error
            )
        }
    }
}

/// The signature that an archive must have.
public struct RequiredSignature: Sendable {
    private let signature: BytePath
    private let allowedSigners: BytePath
    private let signer: String

    /// Requires a signature.
    ///
    /// - Parameters:
    ///   - signature: The file of the signature.
    ///   - allowedSigners: A file of names and public keys, as `ssh-keygen(1)` describes it under
    ///     *ALLOWED SIGNERS*.
    ///   - signer: The name of the required signer in that file.
    public init(signature: URL, allowedSigners: URL, signer: String) {
        self.init(
            signaturePath: BytePath(of: signature),
            allowedSignersPath: BytePath(of: allowedSigners),
            signer: signer
        )
    }

    /// Requires the signature in files at paths of any bytes.
    package init(signaturePath: BytePath, allowedSignersPath: BytePath, signer: String) {
        signature = signaturePath
        allowedSigners = allowedSignersPath
        self.signer = signer
    }

    /// Throws unless the signer has signed `statement`.
    ///
    /// - Parameter statement: The statement that must be signed.
    /// - Returns: The signer and the key, in the words of `ssh-keygen`.
    /// - Throws: ``MigrationError`` of code `signatureInvalid` if the signature is missing,
    ///   expired, or for another archive or key, and of code `signingFailed` if `ssh-keygen` is
    ///   missing or too old.
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
            "-Y", "verify", "-f", String(decoding: allowedSigners.bytes, as: UTF8.self), "-I",
            signer,
            "-n", ArchiveStatement.namespace, "-s",
            String(decoding: signature.bytes, as: UTF8.self),
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

// MARK: - ssh-keygen

/// The program that makes and checks SSH signatures.
private enum SSHKeygen {
    /// How a run ended.
    struct Result {
        let isSuccess: Bool
        let output: [UInt8]
        /// Its output on one line, for an error.
        let errors: String
    }

    /// Runs it with `input` on standard input.
    ///
    /// - Throws: ``MigrationError`` of code `signingFailed` if it is missing or too old.
    static func run(_ words: [String], input: [UInt8], showsErrors: Bool) throws -> Result {
        let program = try find()
        let result = try run(program, words: words, input: input, showsErrors: showsErrors)
        if !result.isSuccess, try isTooOld(program) {
            let message = "ssh-keygen is too old to sign files: install OpenSSH 8.1 or newer"
            throw MigrationError(.signingFailed, message)
        }
        return result
    }

    private static func find() throws(MigrationError) -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        for directory in path.split(separator: ":") {
            let program = "\(directory)/ssh-keygen"
            if FileManager.default.isExecutableFile(atPath: program) {
                return URL(filePath: program)
            }
        }
        let message = "ssh-keygen, which signs archives, is missing: install OpenSSH"
        throw MigrationError(.signingFailed, message)
    }

    /// Whether it does not support signatures.
    private static func isTooOld(_ program: URL) throws -> Bool {
        let words = ["-Y", "check-novalidate", "-n", "archive@migration", "-s", "/dev/null"]
        return try run(program, words: words, input: [], showsErrors: false).errors.contains(
            "option -- "
        )
    }

    private static func run(
        _ program: URL,
        words: [String],
        input: [UInt8],
        showsErrors: Bool
    ) throws -> Result {
        let process = Process()
        let (source, output, errors) = (Pipe(), Pipe(), Pipe())
        process.executableURL = program
        process.arguments = words
        process.standardInput = source
        process.standardOutput = output
        if !showsErrors { process.standardError = errors }
        // Before a reader exists that might vanish: the input and the answer are smaller than a
        // pipe.
        try source.fileHandleForWriting.write(contentsOf: Data(input))
        do {
            try process.run()
        } catch {
            throw MigrationError(.signingFailed, "ssh-keygen can't be started", cause: error)
        }
        try source.fileHandleForWriting.close()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = showsErrors ? Data() : try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // Part of the reason for a failure is on standard output.
        let text = String(decoding: complaint + answer, as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        return Result(
            isSuccess: process.terminationReason == .exit && process.terminationStatus == 0,
            output: [UInt8](answer),
            errors: PrintableText.escaping(String(text.prefix(500)))
        )
    }
}
