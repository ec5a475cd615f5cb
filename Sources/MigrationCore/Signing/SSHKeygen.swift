internal import Foundation
internal import MigrationArchive

/// The program that makes and checks SSH signatures.
enum SSHKeygen {
    /// How a run ended.
    struct Result {
        let isSuccess: Bool
        let output: [UInt8]
        /// All that it printed, on one line, as an error quotes it.
        let errors: String
    }

    /// Runs it with `input` on standard input.
    ///
    /// - Throws: ``MigrationError`` of code `signingFailed` where it is missing or too old.
    static func run(_ words: [String], input: [UInt8], showsErrors: Bool) throws -> Result {
        let program = try find()
        let result = try run(program, words, input, showsErrors: showsErrors)
        if !result.isSuccess, try isTooOld(program) {
            let message = "ssh-keygen is too old to sign files: OpenSSH 8.1 or newer does it"
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
        let message = "there is no ssh-keygen, which signs archives: install OpenSSH"
        throw MigrationError(.signingFailed, message)
    }

    /// Whether it knows nothing of signatures.
    private static func isTooOld(_ program: URL) throws -> Bool {
        let words = ["-Y", "check-novalidate", "-n", "archive@migration", "-s", "/dev/null"]
        return try run(program, words, [], showsErrors: false).errors.contains("option -- ")
    }

    private static func run(
        _ program: URL,
        _ words: [String],
        _ input: [UInt8],
        showsErrors: Bool
    ) throws -> Result {
        let process = Process()
        let (source, output, errors) = (Pipe(), Pipe(), Pipe())
        process.executableURL = program
        process.arguments = words
        process.standardInput = source
        process.standardOutput = output
        if !showsErrors { process.standardError = errors }
        // Before there is a reader that may be gone: it is smaller than a pipe, and so is the answer.
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
        // Why it did not verify is on standard output in part.
        let text = String(decoding: complaint + answer, as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        return Result(
            isSuccess: process.terminationReason == .exit && process.terminationStatus == 0,
            output: [UInt8](answer),
            errors: PrintableText.escaping(String(text.prefix(500)))
        )
    }
}
