import Foundation
import NotesStore

/// A small notes app.
@main
struct Notes {
    static func main() {
        guard let command = NotesCommand(Array(CommandLine.arguments.dropFirst())) else {
            printError(NotesCommand.usage)
            exit(64)
        }
        do {
            ImportNotice.showOnce(by: printError)
            let store = try NotesStore(in: AppContainer.layout)
            for line in try command.run(in: store, sharing: AppContainer.group) { print(line) }
        } catch {
            printError("notes: \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func printError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
