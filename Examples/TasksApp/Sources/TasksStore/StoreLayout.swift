public import Foundation

/// Where the app on iOS keeps what it has, in its container.
public struct StoreLayout: Sendable {
    private let documents: URL
    private let applicationSupport: URL
    private let library: URL

    /// The layout in an app's container at `root`.
    public init(inContainerAt root: URL) {
        documents = root.appending(path: "Documents")
        library = root.appending(path: "Library")
        applicationSupport = library.appending(path: "Application Support")
    }

    /// The database of all to-dos; its -wal and -journal belong to it.
    public var tasks: URL { applicationSupport.appending(path: "tasks.db") }

    /// The database of when to remind of what.
    public var reminders: URL { applicationSupport.appending(path: "reminders.db") }

    /// What the person has set.
    public var settings: URL { applicationSupport.appending(path: "settings.json") }

    /// What the person began to write.
    public var drafts: URL { applicationSupport.appending(path: "Drafts") }

    /// What the widgets show.
    public var widgets: URL { applicationSupport.appending(path: "Widgets") }

    /// The files that are attached to to-dos.
    public var attachments: URL { documents.appending(path: "Attachments") }

    /// What the person exported, for the Files app to show.
    public var exports: URL { documents.appending(path: "Exports") }

    /// The sounds of notifications, which iOS looks for there.
    public var sounds: URL { library.appending(path: "Sounds") }
}
