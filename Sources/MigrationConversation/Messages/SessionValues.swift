package import Foundation
package import MigrationContract
internal import MigrationSystem

/// The version of the messages; a host accepts only extensions that were built with the same
/// version.
package let sessionVersion = 4

// MARK: - From the host

/// The first message of a session, with the directories of the extension.
package struct SessionStart: Codable, Sendable {
    package var version = sessionVersion
    package let container: Data
    package let bundleIdentifier: String
    package let temporaryDirectory: Data
    package let groups: [String: Data]
    package let appendPolicy: AppendPolicy
    package let grants: [SessionGrant]

    package init(
        container: Data,
        bundleIdentifier: String,
        temporaryDirectory: Data,
        groups: [String: Data],
        appendPolicy: AppendPolicy,
        grants: [SessionGrant]
    ) {
        (self.grants, self.container, self.bundleIdentifier) = (grants, container, bundleIdentifier)
        (self.temporaryDirectory, self.groups) = (temporaryDirectory, groups)
        self.appendPolicy = appendPolicy
    }
}

/// A granted resource, in the first message of a session.
package struct SessionGrant: Codable, Sendable {
    private let name: String
    private let path: Data
    private let isDirectory: Bool
    private let isWritable: Bool
    private let device: UInt64
    private let inode: UInt64

    package init(_ grant: SessionGrants.Grant) {
        name = grant.resource.name
        path = Data(grant.path.bytes)
        isDirectory = grant.resource.url.hasDirectoryPath
        isWritable = grant.resource.isWritable
        device = grant.identity.device
        inode = grant.identity.inode
    }

    fileprivate var grant: SessionGrants.Grant {
        let path = BytePath([UInt8](path))
        let url = isDirectory ? URL(directoryAtPath: path) : URL(fileAtPath: path)
        return SessionGrants.Grant(
            GrantedResource(name: name, url: url, isWritable: isWritable),
            path: path,
            identity: FileStatus.Identity(device: device, inode: inode)
        )
    }
}

extension ExtensionContext {
    /// Makes the context of an extension's process from the first message of its host; `change`
    /// shows and hides what is granted.
    package init(_ start: SessionStart, changingGrantsBy change: SessionGrants.Change?) {
        // The path is not resolved, because a URL may have to encode characters in the resolved
        // one.
        let root = BytePath([UInt8](start.container))
        self.init(
            container: MigrationDataContainer(root: root, knownIdentifier: start.bundleIdentifier),
            groups: start.groups.mapValues { URL(containerAtPath: BytePath([UInt8]($0))) },
            temporaryDirectory: URL(directoryAtPath: BytePath([UInt8](start.temporaryDirectory))),
            grants: SessionGrants(start.grants.map(\.grant), changedBy: change ?? { _, _ in true })
        )
    }
}

/// A request to export.
package struct ExportCall: Codable, Sendable {
    package let platform: MigrationPlatform
    package let options: [String: Data]

    package init(platform: MigrationPlatform, options: [String: Data]) {
        (self.platform, self.options) = (platform, options)
    }
}

/// A request to import.
package struct ImportCall: Codable, Sendable {
    package var directory: Data
    package let source: MigrationAppIdentifier
    package let sourceVersion: String

    package init(directory: Data, source: MigrationAppIdentifier, sourceVersion: String) {
        (self.directory, self.source, self.sourceVersion) = (directory, source, sourceVersion)
    }
}

// MARK: - From the extension

/// An extension's description of itself.
package struct ExtensionDescription: Codable, Sendable {
    package let version: Int
    package var name: String
    package let exports: ExportDescription?
    package let imports: Bool
}

/// An extension's description of its exports.
public struct ExportDescription: Sendable, Codable {
    /// The estimate of the content's bytes.
    public let sizeEstimate: Int

    /// The version of the exported format.
    public package(set) var resourcesVersion: String

    /// Whether compression of the content is useful.
    public let isCompressible: Bool

    /// The names of the options that the extension supports.
    public let options: [String]

    /// What the person was doing, encoded; `nil` if the extension doesn't say.
    package let activity: Data?
}

/// The observations of an extension's process, sent when the extension has finished its work.
package struct SessionSummary: Codable, Sendable {
    /// Whether the archiver threw a cancellation that the extension caught.
    package var wasCancelled = false

    /// The observations of an import's progress.
    package var progress = ImportProgressSummary()
}

/// The values of an extension's progress at one time.
package struct ImportProgress: Codable, Equatable, Sendable {
    /// The units in which a fraction is shown.
    package static let scale: Int64 = 1 << 20

    /// The completed units.
    package private(set) var completed: Int64 = 0

    /// The total units; 0 or less if they are unknown.
    package private(set) var total: Int64 = 0

    /// The completed fraction, which counts the progress of children too.
    package private(set) var fraction = 0.0

    /// An extension's progress before it shows anything.
    package init() {}

    /// Reads a progress.
    ///
    /// Foundation on Linux shows children only through the fraction of a parent that has a total.
    package init(of progress: Progress) {
        (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
        let fraction = progress.fractionCompleted
        self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
    }

    /// The completed and the total units to show; if children have done parts of a unit, parts of
    /// ``scale``.
    package var units: (completed: Int64, total: Int64) {
        guard total > 0, (0...1).contains(fraction),
            abs(fraction - Double(completed) / Double(total)) * Double(Self.scale) >= 1
        else { return (completed, total) }
        return (Int64(fraction * Double(Self.scale)), Self.scale)
    }

    /// Whether more is done now than `then`; a changed total doesn't count.
    func hasMoved(since begin: ImportProgress) -> Bool {
        completed != begin.completed || fraction != begin.fraction
    }
}

/// The observations of an extension's progress during an import.
package struct ImportProgressSummary: Codable, Sendable {
    /// Whether the extension returned different objects.
    package var isNewPerRead = false

    /// Whether the completed units or the fraction changed.
    package var hasMoved = false

    /// The progress at the end.
    package var last = ImportProgress()
}
