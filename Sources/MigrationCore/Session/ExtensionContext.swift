internal import Foundation
internal import MigrationSystem
internal import Synchronization

/// What a host gives the extension that it runs.
struct ExtensionContext: Sendable {
    /// The container of the extension's app.
    let container: MigrationDataContainer

    /// The directories of the app groups that the session grants, by identifier.
    let groups: [String: URL]

    /// The extension's own directory for files that end with the session.
    let temporaryDirectory: URL?
}

extension ExtensionContext {
    /// The context of an extension that runs in this process, for the task that the host calls.
    @TaskLocal static var current: ExtensionContext?

    private static let installed = Mutex<ExtensionContext?>(nil)

    /// Makes `context` that of the whole process, which is an extension's own.
    static func install(_ context: ExtensionContext) {
        installed.withLock { $0 = context }
    }

    /// The context that a host gave; `nil` where no host runs the caller.
    static var hosted: ExtensionContext? {
        current ?? installed.withLock { $0 }
    }

    /// The context that a host gave, else one of the container that the environment names.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid` where the environment names no container.
    static var active: ExtensionContext? {
        get throws(MigrationError) {
            if let hosted { return hosted }
            guard let container = try MigrationDataContainer.namedByEnvironment else { return nil }
            return ExtensionContext(container: container, groups: [:], temporaryDirectory: nil)
        }
    }
}

extension ExtensionContext {
    /// The context that a host's first message tells of.
    init(_ start: SessionStart) {
        // As it is: resolved it may have characters that a URL must encode.
        let root = PathName(absolute: ByteString(start.container))
        container = MigrationDataContainer(root: root, knownIdentifier: start.bundleIdentifier)
        groups = start.groups.mapValues { URL(containerAtPath: ByteString($0)) }
        temporaryDirectory = URL(directoryAtPath: ByteString(start.temporaryDirectory))
    }
}
