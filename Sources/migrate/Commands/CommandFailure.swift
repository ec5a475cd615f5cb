import MigrationArchive
import MigrationSystem

/// A program that could not be started.
struct CommandFailure: Error, CustomStringConvertible {
    let commandLine: [[UInt8]]
    let cause: SystemError

    var description: String {
        "the command can't be run: \(PrintableText.escaping(commandLine.first ?? [])): \(cause)"
    }
}
