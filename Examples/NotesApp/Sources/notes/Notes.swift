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
            let layout = try AppContainer.layout
            let store = try NotesStore(in: layout)
            let reminders = try Reminders(in: layout)
            let answer = try command.run(in: store, reminders, sharing: AppContainer.group)
            for line in answer { print(line) }
        } catch {
            printError("notes: \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func printError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
