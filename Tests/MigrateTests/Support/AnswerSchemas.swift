import Foundation
import Testing

/// The JSON Schemas in `Sources/migrate/Schemas`, against which every JSON answer of the tests is
/// validated.
enum AnswerSchemas {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The directory of the schemas.
    static let directory = package.appending(path: "Sources/migrate/Schemas").path

    private static let validator = package.appending(path: "Scripts/validate-answers").path

    private static let canValidate: Bool = {
        let result = try? run("/bin/sh", ["-c", "python3 -c 'import jsonschema'"], [])
        return result?.exitCode == 0
    }()

    /// Why the documents in `text` don't match their schemas; `nil` if they do, or if Python or its
    /// module `jsonschema` is missing.
    static func problem(of text: [UInt8], areLines: Bool) throws -> String? {
        guard canValidate else { return nil }
        let result = try run(validator, [directory, areLines ? "lines" : "document"], text)
        return result.exitCode == 0 ? nil : result.errors
    }

    private static func run(
        _ program: String,
        _ arguments: [String],
        _ input: [UInt8]
    ) throws -> MigrateCommand.Result {
        let words = arguments.map { [UInt8]($0.utf8) }
        return try MigrateCommand.start(words, program: program, input: input).wait()
    }
}

extension MigrateCommand {
    /// Where a run with these words writes a JSON answer.
    struct AnswerForm {
        private let areLines: Bool
        private let isOnStandardError: Bool

        /// The form that `words` ask for; `nil` if they ask for no JSON.
        init?(_ words: [[UInt8]]) {
            let words = words.map { String(decoding: $0, as: UTF8.self) }
            let options = words.prefix { $0 != "--" }
            areLines = options.contains("--json-lines")
            guard areLines || options.contains("--json") else { return nil }
            isOnStandardError = zip(words, words.dropFirst()).contains { $0 == ("--out", "-") }
        }

        /// Expects the documents of a run to match their schemas: the answer, if it was written
        /// completely, and the error that ended the run.
        func expectSchemas(in result: Result) throws {
            let last = result.errors.split(separator: "\n").last ?? ""
            if last.hasPrefix("{"), last.hasSuffix("}") {
                try expectSchema(of: last, areLines: true)
            }
            let answer = isOnStandardError ? result.errors : result.output
            guard areLines || answer.hasPrefix("{") && answer.hasSuffix("}\n") else {
                #expect(result.exitCode != 0 && result.signal == nil, "\(answer)")
                return
            }
            try expectSchema(of: answer[...], areLines: areLines)
        }

        private func expectSchema(of text: Substring, areLines: Bool) throws {
            guard !text.isEmpty else { return }
            let problem = try AnswerSchemas.problem(of: Array(text.utf8), areLines: areLines)
            #expect(problem == nil, "\(problem ?? ""): \(text)")
        }
    }
}
