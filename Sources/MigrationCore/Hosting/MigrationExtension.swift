public import Foundation
internal import MigrationArchive
internal import MigrationSystem

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

    enum Kind: Sendable {
        case executable(URL)
        case value(any AppMigrationExtension)
    }

    let kind: Kind

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
        MigrationExtension(kind: .executable(url))
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
        MigrationExtension(kind: .value(hosted))
    }

    /// The name of the extension, before it says its own.
    var name: String {
        switch kind {
        case .executable(let url): url.lastPathComponent
        case .value(let hosted): "\(type(of: hosted))"
        }
    }

    /// Whether the extension runs in this process, with its rights.
    var isInProcess: Bool {
        if case .value = kind { true } else { false }
    }

    private init(kind: Kind) {
        self.kind = kind
    }
}

// MARK: - App groups

extension MigrationExtension {
    /// Finds the directories of the app groups, by identifier.
    ///
    /// A group's data stays where it is when a container is replaced or exported, so neither may lie
    /// in the other.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` where one can't be opened, is left out too, or
    ///   is not apart from the container at `container`.
    func groupDirectories(
        apartFrom container: PathName
    ) throws(MigrationError) -> [String: PathName] {
        var directories: [String: PathName] = [:]
        for (identifier, url) in applicationGroups {
            let path = ByteString(pathOf: url)
            guard !omittedGroups.contains(identifier) else {
                let message = "the app group \(identifier) has a directory and is left out"
                throw MigrationError(.invalidOption, message, path: path)
            }
            let directory: PathName
            do throws(SystemError) {
                directory = try PathName(resolving: path)
                _ = try FileDescriptor.open(directory.path, .directory)
            } catch {
                let message = "the directory of the app group \(identifier) can't be opened"
                throw MigrationError(.invalidOption, message, path: path, cause: error)
            }
            guard !container.isWithin(directory), !directory.isWithin(container) else {
                let message = "the app group \(identifier) and the container are not apart"
                throw MigrationError(.invalidOption, message, path: path)
            }
            directories[identifier] = directory
        }
        return directories
    }
}

extension MigrationExtension {
    /// The app groups that are left out on purpose, as reports say it.
    var groupOmissions: [Omission] {
        omittedGroups.sorted().map { identifier in
            Omission(
                path: PrintableText.escaping(identifier),
                reason: .applicationGroup,
                bytes: 0,
                detail: nil
            )
        }
    }

    /// The app groups that the extension declares, or was given, as reports say it.
    func groups(declared: [String]) -> [PreflightReport.ApplicationGroup] {
        let identifiers = omittedGroups.union(declared).union(applicationGroups.keys)
        return identifiers.sorted().map { identifier in
            PreflightReport.ApplicationGroup(
                identifier: identifier,
                directory: applicationGroups[identifier].map {
                    PrintableText.escaping(ByteString(pathOf: $0))
                },
                isLeftOut: omittedGroups.contains(identifier)
            )
        }
    }
}

extension PathName {
    /// Whether this is `directory` or lies in it.
    fileprivate func isWithin(_ directory: PathName) -> Bool {
        let slash = [UInt8(ascii: "/")]
        return (path + slash).starts(with: directory.path == slash ? slash : directory.path + slash)
    }
}
