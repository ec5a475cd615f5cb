internal import Foundation
internal import Glibc

/// Serves the host that runs this process as an app's extension.
enum ExtensionService {
    /// Serves the host until it has no more requests; without a host, says so and ends the process.
    @MainActor
    static func run(_ hosted: some AppMigrationExtension) throws {
        let process = ProcessInfo.processInfo
        guard process.environment["MIGRATION_SESSION"] != nil else {
            let path = CommandLine.arguments.first ?? process.processName
            let line = """
                \(process.processName) is an app's migration extension: a host runs it, such as \
                'migrate export --extension \(path)'\n
                """
            try FileHandle.standardError.write(contentsOf: Data(line.utf8))
            exit(EX_USAGE)
        }
        throw MigrationError(.sessionFailed, "this extension can't serve a session")
    }
}
