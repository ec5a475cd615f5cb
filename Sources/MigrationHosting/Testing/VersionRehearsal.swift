internal import Foundation
internal import MigrationArchive
internal import MigrationContainers
internal import MigrationCore
internal import MigrationSystem

/// An import in a version that an extension can't know, which it should refuse.
///
/// It uses a temporary container and temporary app groups. First the data is imported in its own
/// version: only an extension that accepts that and refuses the other version has checked it.
public struct VersionRehearsal: Sendable {
    /// The version that the extension gets.
    public var version: String

    /// The archive to import, which is read twice; `nil` lets the extension export one first.
    public var archive: ArchiveSource?

    /// The source of the data, if the archive does not name it.
    ///
    /// Its version applies to the import to compare with. An export of the extension itself comes
    /// from Android by default.
    public var source = ImportSource()

    /// Makes a rehearsal of a version.
    ///
    /// - Parameter version: The version, such as one that a later release might export.
    public init(version: String) {
        self.version = version
    }
}

/// One rehearsal, after the extension's preflight.
struct VersionRehearsalRun {
    let rehearsal: VersionRehearsal
    let container: MigrationDataContainer
    let appExtension: MigrationExtension
    let operation: MigrationOperation
    let host: MigrationHost

    /// Rehearses, and adds the result to `report`.
    func run(addingTo report: inout PreflightReport) throws {
        guard report.imports else {
            let message = "\(report.name) does not conform to ResourcesImporting"
            throw MigrationError(.extensionUnsuitable, message)
        }
        let directory = try PrivateDirectory()
        defer { directory.remove() }
        let archive = try rehearsal.archive ?? export(into: directory, report)
        var source = rehearsal.source
        if rehearsal.archive == nil { source.platform = source.platform ?? .android }
        let identifier = report.entitlement ?? container.bundleIdentifier
        let known = Attempt(
            directory: directory,
            name: "known",
            identifier: identifier,
            archive: archive,
            source: source
        )
        try compare(with: known)
        source.version = rehearsal.version
        let unknown = Attempt(
            directory: directory,
            name: "unknown",
            identifier: identifier,
            archive: archive,
            source: source
        )
        let refusal = try refusal(of: unknown)
        report.rehearsedVersion = PreflightReport.RehearsedVersion(
            version: BoundedText.description(rehearsal.version),
            isRefused: refusal != nil,
            refusal: refusal
        )
        if refusal == nil { report.findings.append(.versionIgnored(rehearsal.version)) }
    }

    private func export(
        into directory: PrivateDirectory,
        _ report: PreflightReport
    ) throws -> ArchiveSource {
        guard report.exports != nil else {
            throw MigrationError(
                .invalidOption,
                "\(report.name) does not export, so the rehearsal needs an archive",
                path: container.rootPath,
                remedy: .nameArchive
            )
        }
        let path = directory.path / "archive"
        var silent = appExtension
        silent.preflightHandler = nil
        _ = try host.run(
            container,
            to: .file(path: path, replacesExisting: false),
            by: silent,
            options: ExportOptions(),
            on: MigrationOperation(requesting: nil, operation.cancellation)
        )
        return .file(path: path)
    }

    /// Imports in the archive's own version, which must succeed to make the rehearsal meaningful.
    private func compare(with known: Attempt) throws {
        let report: ImportReport
        do {
            report = try run(known)
        } catch let error as MigrationError where error.code == .extensionFailed {
            let message =
                "the rehearsal shows nothing, because the extension refuses the import in its own "
                + "version too"
            throw MigrationError(
                .extensionFailed,
                message,
                cause: error.cause,
                remedy: .nameSource
            )
        }
        let own = known.source.version ?? report.header?.resourcesVersion
        guard own != rehearsal.version else {
            let message =
                "the version to rehearse is the archive's own; name one that the extension "
                + "does not know"
            throw MigrationError(.invalidOption, message, path: container.rootPath)
        }
    }

    /// The reason why the extension refused the import; `nil` if it did not.
    private func refusal(of unknown: Attempt) throws -> String? {
        do {
            _ = try run(unknown)
            return nil
        } catch let error as MigrationError where error.code == .extensionFailed {
            return BoundedText.description((error.cause ?? error).wording)
        }
    }

    /// One import into its own temporary container.
    private struct Attempt {
        let directory: PrivateDirectory
        let name: String
        let identifier: String
        let archive: ArchiveSource
        let source: ImportSource

        func place(_ part: String) -> BytePath {
            directory.path / "\(name)-\(part)"
        }
    }

    private func run(_ attempt: Attempt) throws -> ImportReport {
        var scratch = appExtension
        scratch.preflightHandler = nil
        let parent = try FileDescriptor.open(attempt.directory.path, .directory)
        for (index, identifier) in appExtension.applicationGroups.keys.sorted().enumerated() {
            let group = attempt.place("group-\(index)")
            try parent.makeDirectory(group.lastComponent, permissions: 0o700)
            scratch.applicationGroups[identifier] = URL(directoryAtPath: group)
        }
        var options = ImportOptions()
        options.source = attempt.source
        return try host.run(
            attempt.archive,
            into: MigrationDataContainer(
                root: attempt.place("container"),
                knownIdentifier: attempt.identifier
            ),
            by: scratch,
            options: options,
            on: MigrationOperation(requesting: nil, operation.cancellation)
        )
    }
}

extension ExtensionFinding {
    /// The finding for an import that succeeded in a version that the extension can't know.
    fileprivate static func versionIgnored(_ version: String) -> ExtensionFinding {
        ExtensionFinding(
            code: .versionIgnored,
            message:
                "an import with the sourceVersion '\(PrintableText.escaping(version))' succeeded",
            fix: "compare request.sourceVersion with the versions that the app knows, and throw an "
                + "error for all others"
        )
    }

    /// The finding for an empty version; `nil` for any other.
    static func emptyVersion(_ version: String) -> ExtensionFinding? {
        guard version.allSatisfy(\.isWhitespace) else { return nil }
        return ExtensionFinding(
            code: .versionEmpty,
            message: "resourcesVersion is empty",
            fix: "name the format, such as 1.0, so that the importer can tell it from later ones"
        )
    }
}
