internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// A mistake in an extension that a session revealed, and its fix.
///
/// A finding does not fail the session; only errors do.
public struct ExtensionFinding: Hashable, Sendable, Codable {
    /// The kinds of mistakes; a minor release may add new ones.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// There is no entitlement for the data container.
        case entitlementMissing

        /// The entitlement names no container.
        case entitlementEmpty

        /// The entitlement names several containers.
        case entitlementPlural

        /// The entitlement names something that is not a bundle identifier.
        case entitlementUnusable

        /// The entitlement names another app's container.
        case entitlementMismatched

        /// The entitlements declare an app group for which the session has no directory.
        case groupNotMapped

        /// The session was given an app group that the entitlements don't declare.
        case groupNotDeclared

        /// `resourcesVersion` is empty.
        case versionEmpty

        /// An import in a version that the extension can't know succeeded.
        case versionIgnored

        /// The size estimate is off by more than a fifth.
        case estimateOff

        /// The extension appended nothing for more than a third of the hang timeout.
        case appendGap

        /// Nothing was exported.
        case nothingExported

        /// A large converted copy was appended instead of the original.
        case convertedCopy

        /// An item was archived under a percent-encoded name.
        case nameEncoded

        /// A path in the archive has empty components or `.`, which were dropped.
        case pathShortened

        /// An appended item does not exist, because its URL or path was made in the wrong way.
        case sourceMisnamed

        /// The extension caught the cancellation and continued.
        case cancellationSwallowed

        /// `resourcesImportProgress` returns a new object each time.
        case progressNotKept

        /// `resourcesImportProgress` never changed.
        case progressStill

        /// `resourcesImportProgress` was not complete at the end.
        case progressIncomplete

        /// Files in the import directory were never read.
        case resourcesUnread

        /// The extension wrote to an app group that still holds older files.
        case groupNotCleared
    }

    /// The kind of mistake.
    public let code: Code

    /// The observation, in one sentence.
    public let message: String

    /// The fix, in one sentence.
    public let fix: String

    /// The remedy in a program that hosts the extension; it isn't encoded.
    package var remedy: Remedy?

    private enum CodingKeys: CodingKey {
        case code, message, fix
    }
}

// MARK: - Findings of an export

/// The mistakes that an export revealed.
struct ExportFindings {
    private let estimate: Int
    private let version: String
    private let longestWait: Duration
    private let hangTimeout: Duration
    private let mistakes: SessionObserver.Mistakes
    private let options: [String]

    /// The size of a directory with few files on most Linux file systems.
    private static let directorySize: UInt64 = 4096

    /// Uses the observations of the session of `host`, which answered `call`.
    init(_ host: AppExtensionHost, call: ExportCall) {
        estimate = host.description.exports?.sizeEstimate ?? 0
        options = call.options.keys.sorted()
        version = host.description.exports?.resourcesVersion ?? ""
        longestWait = host.observer.longestWait
        hangTimeout = host.appExtension.hangTimeout
        mistakes = host.observer.mistakes
    }

    /// The findings of an export that archived `totals`.
    func all(of totals: ArchiveTotals) -> [ExtensionFinding] {
        let entries =
            totals.files + totals.directories + totals.symbolicLinks + totals.hardLinks
        let ofVersion = ExtensionFinding.emptyVersion(version)
        guard entries > 0 else {
            return [.nothingExported] + [ofVersion, sourceMisnamed].compactMap { $0 }
        }
        return [
            ofVersion, estimateOff(totals), appendGap, convertedCopy, nameEncoded, pathShortened,
            sourceMisnamed,
        ]
        .compactMap { $0 }
    }

    private func estimateOff(_ totals: ArchiveTotals) -> ExtensionFinding? {
        let bytes = totals.contentBytes
        let exported = Double(bytes)
        let off = abs(Double(estimate) - exported)
        guard off > 0.2 * exported else { return nil }
        let said = "resourcesSizeEstimate was \(estimate) bytes, but \(bytes) were exported"
        if let count = directories(beyond: bytes, totals) {
            return ExtensionFinding(
                code: .estimateOff,
                message:
                    "\(said); the difference is \(count) times \(Self.directorySize), the size of a "
                    + "directory on Linux",
                fix: "add up the sizes of regular files only (isRegularFile)"
            )
        }
        guard options.isEmpty else {
            let names = options.map { PrintableText.escaping([UInt8](utf8: $0)) }
            return ExtensionFinding(
                code: .estimateOff,
                message:
                    "\(said); the export had options that no estimate can know: "
                    + names.joined(separator: ", "),
                fix: "check the estimate of an export without options; it may be right for that"
            )
        }
        return ExtensionFinding(
            code: .estimateOff,
            message: said,
            fix: "add up the sizes of the files that exportResources appends"
        )
    }

    /// How many directories were counted as files, if that is the whole difference.
    private func directories(beyond bytes: UInt64, _ totals: ArchiveTotals) -> UInt64? {
        guard let estimate = UInt64(exactly: estimate), estimate > bytes else { return nil }
        let (count, rest) = (estimate - bytes).quotientAndRemainder(dividingBy: Self.directorySize)
        return rest == 0 && count <= UInt64(totals.directories) ? count : nil
    }

    private var appendGap: ExtensionFinding? {
        guard longestWait > hangTimeout / 3 else { return nil }
        return ExtensionFinding(
            code: .appendGap,
            message:
                "the extension appended nothing for \(longestWait.text); "
                + "after \(hangTimeout.text) it is stopped",
            fix: "append each item as soon as it is ready, and prepare the next one meanwhile"
        )
    }

    private var convertedCopy: ExtensionFinding? {
        mistakes.convertedCopies.finding(
            .convertedCopy,
            saying: "large items came from the temporary directory: ",
            fix: "append the original files, and convert them on the importing side"
        )
    }

    private var nameEncoded: ExtensionFinding? {
        mistakes.encodedNames.finding(
            .nameEncoded,
            saying: "items have percent-encoded names in the archive: ",
            fix: "use path(percentEncoded: false) for pathInArchive; path() is encoded"
        )
    }

    private var pathShortened: ExtensionFinding? {
        mistakes.shortenedNames.finding(
            .pathShortened,
            saying: "paths in the archive were taken without their empty and '.' components: ",
            fix: "give pathInArchive as names between single slashes; another host may refuse it"
        )
    }

    private var sourceMisnamed: ExtensionFinding? {
        mistakes.misnamed.finding(
            .sourceMisnamed,
            saying: "appended items don't exist: ",
            fix: "use their real paths, or the export misses them"
        )
    }
}

extension Examples {
    /// The finding that says how many there are, and names the first ones; `nil` if there are none.
    fileprivate func finding(
        _ code: ExtensionFinding.Code,
        saying message: String,
        fix: String
    ) -> ExtensionFinding? {
        guard count > 0 else { return nil }
        return ExtensionFinding(code: code, message: "\(count) \(message)\(text)", fix: fix)
    }
}

extension ExtensionFinding {
    /// The finding of an export without any entry.
    static let nothingExported = ExtensionFinding(
        code: .nothingExported,
        message: "the extension appended nothing",
        fix: "append what the app needs on its next device"
    )
}

// MARK: - Findings of an import

/// The mistakes that an import revealed.
struct ImportFindings {
    let progress: ImportProgressSummary
    /// `nil` if that is unknown.
    let unread: UnreadFiles?
    let unclearedGroups: [String]

    /// The findings, in the order of the session.
    var all: [ExtensionFinding] {
        [progressFinding, unreadFinding].compactMap { $0 } + unclearedGroups.map(groupFinding)
    }

    private var progressFinding: ExtensionFinding? {
        if progress.isNewPerRead {
            return ExtensionFinding(
                code: .progressNotKept,
                message: "resourcesImportProgress returns a new object each time",
                fix: "make the Progress once, in a stored property, and update it"
            )
        }
        if !progress.hasMoved {
            return ExtensionFinding(
                code: .progressStill,
                message: "resourcesImportProgress never changed",
                fix: "raise its completedUnitCount for each item"
            )
        }
        let (completed, total) = progress.last.units
        guard completed < total || total <= 0 else { return nil }
        return ExtensionFinding(
            code: .progressIncomplete,
            message: "resourcesImportProgress ended at \(completed) of \(total) units",
            fix: "set totalUnitCount to the number of steps, and finish at that number"
        )
    }

    private var unreadFinding: ExtensionFinding? {
        unread?.files.finding(
            .resourcesUnread,
            saying: "files of the import were never read: ",
            fix: "import them, or leave them out of the export"
        )
    }

    private func groupFinding(_ identifier: String) -> ExtensionFinding {
        ExtensionFinding(
            code: .groupNotCleared,
            message:
                "the extension wrote to the app group \(identifier), which still holds older files",
            fix: "empty an app group before importing into it: the system does not"
        )
    }
}
