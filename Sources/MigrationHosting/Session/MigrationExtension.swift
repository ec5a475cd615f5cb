public import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// An app's extension, and how a host runs it.
///
/// An extension that was built as a program runs in its own process, confined to its task. A tool
/// can also host a value in its own process, where it isn't confined: use that for tests, and for
/// code that the tool trusts like its own.
///
///     var notes = MigrationExtension.executable(at: URL(filePath: "NotesMigration"))
///     notes.applicationGroups = ["group.com.example.notes": sharedDirectory]
///     try await MigrationHost().export(container, to: archive, using: notes)
public struct MigrationExtension: Sendable {
    /// Whether an extension's process must be confined.
    public enum ConfinementPolicy: String, Sendable, CaseIterable {
        /// It is confined as far as this system allows; the report says how far.
        case whereAvailable

        /// A session begins only if the system can confine files and system calls.
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
    /// `nil` means the file beside the executable with `.entitlements` after its name. A value in
    /// this process needs none, but if it has one, it is checked.
    public var entitlements: URL?

    /// The directories of the app groups that the extension may use, by identifier.
    ///
    /// An export may read them, an import may change them. They must exist. Every group that the
    /// entitlements declare must be either here or in ``omittedGroups``, and no other group may be:
    /// without this rule, the data of a forgotten group would be lost silently.
    public var applicationGroups: [String: URL] = [:]

    /// The declared app groups to omit on purpose; reports list them as omissions.
    public var omittedGroups: Set<String> = []

    /// The files and directories outside the container that the person granted to the extension.
    ///
    /// Their names must differ. They must exist, and must not be in the container or an app group,
    /// or contain one of them; one may be inside another.
    public var grantedResources: [GrantedResource] = []

    /// How long the extension may go without an append, archived bytes, progress or another sign of
    /// work.
    ///
    /// If it only reads files, rewrites them or waits for a device, it may continue for ten times
    /// as long.
    public var hangTimeout = Duration.seconds(30)

    /// How long the extension may take to stop after it was cancelled.
    public var gracePeriod = Duration.seconds(5)

    /// The bytes that the extension's process may use in its temporary directory.
    public var temporarySpace: UInt64 = 1 << 30

    /// The bytes of memory that the extension's process and its child processes may use together.
    ///
    /// If the system can't limit them together (no cgroup can be made), the limit applies to each
    /// process. `nil` means 4 GiB if a cgroup can be made, and otherwise no limit.
    public var memoryLimit: UInt64?

    /// Whether the extension's process must be confined.
    public var confinement = ConfinementPolicy.whereAvailable

    /// Called with each line that the extension's process prints, without its line break.
    public var outputHandler: (@Sendable (String) -> Void)?

    /// Called with the extension's description of itself before any data moves.
    public var preflightHandler: (@Sendable (PreflightReport) -> Void)?

    /// Called at the end of each session, even a failed one, with the extension's actions and their
    /// times.
    ///
    /// An import has two sessions: one that asks, and one that imports.
    public var timelineHandler: (@Sendable (SessionTimeline) -> Void)?

    /// An extension that was built as a program.
    ///
    /// - Parameter url: The program.
    /// - Returns: The extension, which is checked when a session begins.
    public static func executable(at url: URL) -> MigrationExtension {
        MigrationExtension(kind: .executable(url))
    }

    /// An extension that runs in this process.
    ///
    /// It is served like one in its own process, but isn't confined. If it hangs or ignores a
    /// cancellation, the session ends without it: its task keeps running, and its appends fail.
    ///
    /// If root hosts it for a container of another user, it has root's rights. Files that it makes
    /// in the container are then given to the owner. Files that it makes in an app group, and files
    /// with other names elsewhere, still belong to root.
    ///
    /// - Parameter hosted: The extension.
    /// - Returns: The extension to host.
    public static func inProcess(_ hosted: some AppMigrationExtension) -> MigrationExtension {
        MigrationExtension(kind: .value(hosted))
    }

    /// The name of the extension until it reports its own.
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
    /// A group's data stays in place when a container is replaced or exported, so neither directory
    /// may contain the other.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` if a directory can't be opened, its
    ///   group is also omitted, or it overlaps with the container at `container`.
    func groupDirectories(
        apartFrom container: BytePath
    ) throws(MigrationError) -> [String: BytePath] {
        var directories: [String: BytePath] = [:]
        for (identifier, url) in applicationGroups {
            let path = BytePath(of: url)
            guard !omittedGroups.contains(identifier) else {
                let message = "the app group \(identifier) has a directory but is also left out"
                throw MigrationError(.invalidOption, message, path: path)
            }
            let directory: BytePath
            do throws(SystemError) {
                directory = try BytePath(resolving: path)
                _ = try FileDescriptor.open(directory, .directory)
            } catch {
                let message = "the directory of the app group \(identifier) can't be opened"
                throw MigrationError(.invalidOption, message, path: path, cause: error)
            }
            guard !container.isEqual(toOrBelow: directory),
                !directory.isEqual(toOrBelow: container)
            else {
                let message =
                    "the directory of the app group \(identifier) overlaps with the container"
                throw MigrationError(.invalidOption, message, path: path)
            }
            directories[identifier] = directory
        }
        return directories
    }
}

// MARK: - Granted resources

extension MigrationExtension {
    private static func refusal(
        _ message: String,
        _ path: BytePath,
        cause: SystemError? = nil
    ) -> MigrationError {
        MigrationError(.invalidOption, message, path: path, cause: cause, remedy: .changeGrant)
    }

    private static func locate(
        _ resource: GrantedResource,
        _ shown: String
    ) throws(MigrationError) -> (BytePath, FileStatus) {
        let given = BytePath(of: resource.url)
        let path: BytePath
        let status: FileStatus
        do throws(SystemError) {
            path = try BytePath(resolvingWhole: given)
            status = try FileDescriptor.status(atPath: path)
        } catch {
            throw refusal("\(shown) can't be reached", given, cause: error)
        }
        guard status.kind == .directory || status.kind == .regular else {
            throw refusal("\(shown) is neither a file nor a directory", path)
        }
        return (path, status)
    }

    /// Finds the granted resources, which may not overlap with `directories`.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption`.
    func resolvedGrants(
        apartFrom directories: [BytePath]
    ) throws(MigrationError) -> [SessionGrants.Grant] {
        var grants: [SessionGrants.Grant] = []
        for resource in grantedResources {
            let shown = "the granted resource '\(resource.name)'"
            let (path, status) = try Self.locate(resource, shown)
            let overlaps = directories.contains { directory in
                path.isEqual(toOrBelow: directory) || directory.isEqual(toOrBelow: path)
            }
            guard !overlaps, path != .root else {
                let message =
                    "\(shown) overlaps with the container or an app group, which the extension has "
                    + "anyway"
                throw Self.refusal(message, path)
            }
            guard !grants.contains(where: { $0.path == path || $0.resource.name == resource.name })
            else {
                let message = "\(shown) is granted twice, by its name or its path"
                throw Self.refusal(message, path)
            }
            let url =
                status.kind == .directory ? URL(directoryAtPath: path) : URL(fileAtPath: path)
            let resolved = GrantedResource(
                name: resource.name,
                url: url,
                isWritable: resource.isWritable
            )
            grants.append(.init(resolved, path: path, identity: status.identity))
        }
        return grants
    }
}

extension MigrationExtension {
    /// The app groups that are omitted on purpose, for a report.
    var groupOmissions: [Omission] {
        omittedGroups.sorted().map { Omission(path: [UInt8]($0.utf8), reason: .applicationGroup) }
    }

    /// The app groups that the extension declares or was given, for a report.
    func groups(declared: [String]) -> [PreflightReport.ApplicationGroup] {
        let identifiers = omittedGroups.union(declared).union(applicationGroups.keys)
        return identifiers.sorted().map { identifier in
            PreflightReport.ApplicationGroup(
                identifier: identifier,
                directory: applicationGroups[identifier].map {
                    PrintableText.escaping(BytePath(of: $0))
                },
                isLeftOut: omittedGroups.contains(identifier)
            )
        }
    }
}
