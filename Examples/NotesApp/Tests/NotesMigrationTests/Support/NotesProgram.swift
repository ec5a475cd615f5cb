import Foundation

/// The app as the person starts it.
enum NotesProgram {
    /// The output and the exit code of the app.
    struct Run {
        let output: String
        let errors: String
        let status: Int32
    }

    static func run(_ arguments: [String], in container: URL, group: URL? = nil) throws -> Run {
        let program = Process()
        let (output, errors) = (Pipe(), Pipe())
        program.executableURL = Bundle.main.bundleURL.appending(path: "notes")
        program.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["MIGRATION_CONTAINER"] = container.path
        environment["NOTES_GROUP"] = group?.path
        program.environment = environment
        program.standardOutput = output
        program.standardError = errors
        try program.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
        program.waitUntilExit()
        return Run(
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorText, as: UTF8.self),
            status: program.terminationStatus
        )
    }
}
