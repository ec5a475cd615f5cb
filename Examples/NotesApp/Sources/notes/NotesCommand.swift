import Foundation
import NotesStore

/// A request of the person to the app.
enum NotesCommand: Equatable {
    case list
    case show(String)
    case add(title: String, text: String, folder: String)
    case tag(String, [String])
    case attach(String, file: String)
    case sort(Settings.SortOrder)
    case remind(String, day: String)
    case reminders
    case widget

    static let usage = """
        USAGE: notes list
               notes show <id>
               notes add <title> <text> [<folder>]
               notes tag <id> <tag>...
               notes attach <id> <file>
               notes sort title|created
               notes remind <id> <day, as 2026-05-01>
               notes reminders
               notes widget
        """

    init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        switch (arguments.first, rest.count) {
        case ("list", 0): self = .list
        case ("show", 1): self = .show(rest.removeFirst())
        case ("add", 2...3):
            let (title, text) = (rest.removeFirst(), rest.removeFirst())
            self = .add(title: title, text: text, folder: rest.first ?? Note.defaultFolder)
        case ("tag", 2...): self = .tag(rest.removeFirst(), Array(rest))
        case ("attach", 2): self = .attach(rest.removeFirst(), file: rest.removeFirst())
        case ("sort", 1):
            guard let order = Settings.SortOrder(rawValue: rest.removeFirst()) else { return nil }
            self = .sort(order)
        case ("remind", 2): self = .remind(rest.removeFirst(), day: rest.removeFirst())
        case ("reminders", 0): self = .reminders
        case ("widget", 0): self = .widget
        default: return nil
        }
    }

    /// Carries out the request, and returns the lines of the answer.
    func run(
        in store: NotesStore,
        _ reminders: Reminders,
        sharing group: SharedGroup?
    ) throws -> [String] {
        switch self {
        case .list: return try store.notes().map(\.line)
        case .show(let id): return try store.note(id).page
        case .add(let title, let text, let folder):
            let note = Note(title: title, text: text, folder: folder)
            try store.save(note)
            try group?.update(with: store.notes())
            return [note.id]
        case .tag(let id, let tags):
            var note = try store.note(id)
            note.tags += tags.filter { !note.tags.contains($0) }
            try store.save(note)
        case .attach(let id, let file): try store.attach(URL(filePath: file), to: id)
        case .sort(let order):
            var settings = try store.settings()
            settings.sortOrder = order
            try store.save(settings)
        case .remind(let id, let day):
            try reminders.save(Reminder(note: store.note(id).id, due: day))
        case .reminders:
            return try reminders.all().map { reminder in
                let end = reminder.isDone ? " (done)" : ""
                return try "\(reminder.due)  \(store.note(reminder.note).title)\(end)"
            }
        case .widget: return try group?.snapshot()?.titles ?? []
        }
        return []
    }
}

extension Note {
    /// The note in a list.
    fileprivate var line: String {
        let marks = tags.map { " #\($0)" }.joined()
        let clips = attachments.isEmpty ? "" : " (\(attachments.count) attached)"
        return "\(id)  \(folder)/\(title)\(marks)\(clips)"
    }

    /// The whole note.
    fileprivate var page: [String] {
        [line, "", text] + attachments.map { "attached: \($0)" }
    }
}
