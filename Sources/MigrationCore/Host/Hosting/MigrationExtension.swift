public import Foundation

/// An app's extension and the terms on which a host runs it.
///
/// An extension that was built as a program runs in a process of its own, confined to what it is for.
/// A tool can also host a value in its own process, where nothing confines it: right for tests and for
/// code that the tool trusts as itself.
///
///     var notes = MigrationExtension.executable(at: URL(filePath: "NotesMigration"))
///     notes.applicationGroups = ["group.com.example.notes": sharedDirectory]
///     try await MigrationHost().exportContainer(container, to: archive, using: notes)
public struct MigrationExtension: Sendable {
    /// Whether an extension's process must be confined.
    public enum ConfinementPolicy: String, Sendable, CaseIterable {
        /// It is confined as far as this system can; the report says how far.
        case whereAvailable

        /// A session begins only where the system can confine files and system calls.
        case required

        /// It is not confined.
        case none
    }

    enum Place: Sendable {
        case executable(URL)
        case value(any AppMigrationExtension)
    }

    let place: Place

    /// The property list of the extension's entitlements.
    ///
    /// `nil` takes the file beside the executable, with `.entitlements` after its name. A value in this
    /// process needs none, but one that is given is checked.
    public var entitlements: URL?

    /// The directories of the app groups that the extension may use, by identifier.
    ///
    /// An export may read them, an import change them. They must exist. Each group that the entitlements
    /// declare is either here or in ``omittedGroups``, and no other group is: a session in which one is
    /// missing is refused, because its data would be lost without a word.
    public var applicationGroups: [String: URL] = [:]

    /// The app groups that are declared and left out on purpose; reports list them as omissions.
    public var omittedGroups: Set<String> = []

    /// How long the extension may go without an append, archived bytes or progress.
    public var hangTimeout = Duration.seconds(30)

    /// How long the extension may take to end after it was cancelled.
    public var gracePeriod = Duration.seconds(5)

    /// The bytes that the extension's process may have in its temporary directory.
    public var temporarySpace: UInt64 = 1 << 30

    /// The bytes of memory that the extension's process may take with all that it starts.
    ///
    /// Where the system lets nobody bound that (no cgroup can be made), each process may take as much.
    /// `nil` is 4 GiB where a cgroup can be made, and no limit elsewhere.
    public var memoryLimit: UInt64?

    /// Whether the extension's process must be confined.
    public var confinement = ConfinementPolicy.whereAvailable

    /// Gets each line that the extension's process prints, without its end.
    public var outputHandler: (@Sendable (String) -> Void)?

    /// Gets what the extension says of itself before any data moves.
    public var preflightHandler: (@Sendable (PreflightReport) -> Void)?

    /// An extension that was built as a program.
    ///
    /// - Parameter url: The program.
    /// - Returns: The extension, which is looked at when a session begins.
    public static func executable(at url: URL) -> MigrationExtension {
        MigrationExtension(place: .executable(url))
    }

    /// An extension that runs in this process.
    ///
    /// The same session serves it, but nothing confines it, and where it hangs or goes on after it was
    /// cancelled, the session ends without it: its task stays behind, and its appends fail.
    ///
    /// Where root hosts it for a container of another user, it has root's rights. What it makes in the
    /// container becomes the owner's; what it makes in an app group, and files that have names elsewhere,
    /// stay root's.
    ///
    /// - Parameter hosted: The extension.
    /// - Returns: The extension to host.
    public static func inProcess(_ hosted: some AppMigrationExtension) -> MigrationExtension {
        MigrationExtension(place: .value(hosted))
    }

    /// The name of the extension, before it says its own.
    var name: String {
        switch place {
        case .executable(let url): url.lastPathComponent
        case .value(let hosted): "\(type(of: hosted))"
        }
    }

    /// Whether the extension runs in this process, with its rights.
    var isInProcess: Bool {
        if case .value = place { true } else { false }
    }

    private init(place: Place) {
        self.place = place
    }
}
