public import Foundation

/// The paths at which the app on iOS keeps its files, relative to its container.
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

    /// The database of reminders.
    public var reminders: URL { applicationSupport.appending(path: "reminders.db") }

    /// The person's settings.
    public var settings: URL { applicationSupport.appending(path: "settings.json") }

    /// Drafts that the person has not finished.
    public var drafts: URL { applicationSupport.appending(path: "Drafts") }

    /// The content of the widgets.
    public var widgets: URL { applicationSupport.appending(path: "Widgets") }

    /// The files that are attached to to-dos.
    public var attachments: URL { documents.appending(path: "Attachments") }

    /// Files that the person exported, which the Files app shows.
    public var exports: URL { documents.appending(path: "Exports") }

    /// The sounds of notifications, which iOS looks for there.
    public var sounds: URL { library.appending(path: "Sounds") }
}
