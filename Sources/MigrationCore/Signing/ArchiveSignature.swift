public import Foundation
internal import MigrationArchive
package import MigrationSystem

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
        replacesExisting: Bool,
        on operation: MigrationOperation = MigrationOperation()
    ) throws {
        let program = SSHKeygen(operation: operation)
        let key = try program.key(at: keyPath)
        let answer = try program.run(
            ["-q", "-Y", "sign", "-f", key, "-n", .text(Self.namespace)],
            input: text,
            asksPerson: true
        )
        guard answer.isSuccess, !answer.output.isEmpty else {
            let problem = "ssh-keygen can't sign with this key"
            throw MigrationError(.signingFailed, problem, path: keyPath)
        }
        do throws(SystemError) {
            try PendingFile.write(
                answer.output,
                at: BytePath(resolving: path),
                replacesExisting: replacesExisting
            )
        } catch {
            throw MigrationError(
                error.isExisting ? .outputExists : .outputFailed,
                !error.isExisting
                    ? "the signature can't be written"
                    : replacesExisting
                        ? "what is there isn't a regular file and is not replaced"
                        : "a signature of that name already exists",
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

    /// The content of the files: a pipe can be read only once, and an archive may be checked twice.
    private let inputs = Monitor<(signature: SSHKeygen.Word, signers: SSHKeygen.Word)?>(nil)

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
        try check(statement, on: MigrationOperation())
    }

    /// Throws unless the signer has signed `statement`.
    @discardableResult
    package func check(
        _ statement: ArchiveStatement,
        on operation: MigrationOperation
    ) throws -> String {
        let program = SSHKeygen(operation: operation)
        let (signature, signers) = try readInputs(by: program)
        let answer = try program.run(
            [
                "-Y", "verify", "-f", signers, "-I", .text(signer),
                "-n", .text(ArchiveStatement.namespace), "-s", signature,
            ],
            input: statement.text,
            asksPerson: false
        )
        guard answer.isSuccess else {
            let name = PrintableText.escaping(signer)
            let message = "the archive is not signed by \(name): \(answer.complaint)"
            throw MigrationError(.signatureInvalid, message, path: self.signature)
        }
        let output = String(decoding: answer.output, as: UTF8.self)
        return PrintableText.escaping(output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func readInputs(
        by program: SSHKeygen
    ) throws -> (signature: SSHKeygen.Word, signers: SSHKeygen.Word) {
        if let inputs = inputs.withLock({ $0 }) { return inputs }
        let read = (
            signature: try program.input(at: signature, called: "signature", limit: 64 << 10),
            signers: try program.input(
                at: allowedSigners,
                called: "file of signers",
                limit: 4 << 20
            )
        )
        inputs.withLock { $0 = read }
        return read
    }
}

// MARK: - ssh-keygen

/// The program that makes and checks SSH signatures.
private struct SSHKeygen {
    let operation: MigrationOperation

    /// A word of its command line.
    enum Word: ExpressibleByStringLiteral {
        case text(String)
        /// A file that the program opens itself.
        case path(BytePath)
        case content([UInt8], of: BytePath)

        init(stringLiteral text: String) { self = .text(text) }
    }

    /// Reads the file at `path`, of at most `limit` bytes.
    func input(
        at path: BytePath,
        called name: String,
        failing code: MigrationError.Code = .signatureInvalid,
        limit: Int
    ) throws -> Word {
        let bytes = try NamedFile.read(
            path,
            called: "the \(name)",
            failing: code,
            limit: limit,
            cancellation: operation.cancellation
        )
        return .content(bytes, of: path)
    }

    /// Reads a private or public key, unless it is in a regular file: the program looks for the
    /// other one of the pair beside that, and asks for the passphrase by its name.
    func key(at path: BytePath) throws -> Word {
        let limit = 1 << 20
        // A file whose status is unknown can't be read either, and that error says why.
        let status = try? FileDescriptor.openFollowingLinks(path, .reading).status()
        guard let status, status.kind == .regular, status.size <= limit else {
            return try input(at: path, called: "key", failing: .signingFailed, limit: limit)
        }
        return .path(path)
    }

    /// How a run ended.
    struct Answer {
        let isSuccess: Bool
        let output: [UInt8]
        /// Its output on one line, for an error.
        let complaint: String
    }

    /// The output has a few lines.
    private static let outputLimit = 64 << 10

    /// The time limit of a check in seconds; the size of its files is bounded.
    private static let checkLimit = 30.0

    /// Runs it with `input` on standard input.
    ///
    /// - Throws: ``MigrationError`` of code `signingFailed` if it is missing, too old or takes too long.
    func run(
        _ words: [Word],
        input: [UInt8],
        asksPerson: Bool
    ) throws -> Answer {
        let answer = try start(words, input: input, asksPerson: asksPerson)
        if !answer.isSuccess, try isTooOld() {
            let message = "ssh-keygen is too old to sign files: install OpenSSH 8.1 or newer"
            throw MigrationError(.signingFailed, message)
        }
        return answer
    }

    /// Whether it does not support signatures.
    private func isTooOld() throws -> Bool {
        let words: [Word] = [
            "-Y", "check-novalidate", "-n", .text(ArchiveStatement.namespace), "-s", "/dev/null",
        ]
        return try start(words, input: [], asksPerson: false)
            .complaint.contains("option -- ")
    }

    private func start(
        _ words: [Word],
        input: [UInt8],
        asksPerson: Bool
    ) throws -> Answer {
        var command = [[UInt8](utf8: "ssh-keygen")]
        var files: [(file: OpenFile, shown: BytePath)] = []
        let process: PipedProcess
        do throws(SystemError) {
            for word in words {
                switch word {
                case .text(let text): command.append([UInt8](utf8: text))
                case .path(let path): command.append(path.bytes)
                case .content(let bytes, let path):
                    command.append([UInt8](utf8: "/dev/fd/\(3 + files.count)"))
                    files.append((try .inMemory(holding: bytes), path))
                }
            }
            process = try PipedProcess.start(
                command,
                reading: try .inMemory(holding: input),
                files: files.map(\.file),
                showsErrors: asksPerson
            )
        } catch {
            throw Self.failure(toStart: error)
        }
        return try answer(of: process, shown: files.map(\.shown), asksPerson)
    }

    private static func failure(toStart error: SystemError) -> MigrationError {
        guard error.isMissing else {
            return MigrationError(.signingFailed, "ssh-keygen can't be started", cause: error)
        }
        let message = "ssh-keygen, which signs archives, is missing: install OpenSSH"
        return MigrationError(.signingFailed, message)
    }

    private func answer(
        of process: PipedProcess,
        shown: [BytePath],
        _ asksPerson: Bool
    ) throws -> Answer {
        let result: (output: [UInt8], ending: ProcessEnding?)
        do {
            result = try process.answer(
                limit: Self.outputLimit,
                within: asksPerson ? nil : Self.checkLimit,
                cancellation: operation.cancellation
            )
        } catch is PipedProcess.OutputTooLong {
            throw MigrationError(.signingFailed, "ssh-keygen prints too much")
        }
        guard let ending = result.ending else {
            let limit = "\(Int(Self.checkLimit)) seconds"
            throw MigrationError(.signingFailed, "ssh-keygen did not end within \(limit)")
        }
        // Part of the reason for a failure is on standard output.
        let lines =
            process.printedLines
            + String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map(String.init)
        var text = PrintableText.escaping(String(lines.joined(separator: "; ").prefix(500)))
        for (index, path) in shown.enumerated() {
            let name = PrintableText.escaping(path)
            text = text.replacingOccurrences(of: "/dev/fd/\(3 + index)", with: name)
        }
        return Answer(isSuccess: ending == .exited(0), output: result.output, complaint: text)
    }
}
