internal import MigrationArchive
internal import MigrationSystem

/// A mistake of an extension that a session came upon, and what to do about it.
///
/// A finding does not fail the session; what fails it is an error.
public struct ExtensionFinding: Hashable, Sendable, Codable {
    /// The kinds of mistakes that are found, of which a minor release may bring new ones.
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

        /// An app group is declared in the entitlements, and the session was given no directory for it.
        case groupNotMapped

        /// An app group was named for the session that the entitlements don't declare.
        case groupNotDeclared

        /// `resourcesVersion` is empty.
        case versionEmpty

        /// An import in a version that the extension can't know succeeded.
        case versionIgnored

        /// The size estimate is off by more than a fifth.
        case estimateOff

        /// The extension went without an append for over a third of the hang timeout.
        case appendGap

        /// Nothing was exported.
        case nothingExported

        /// A large converted copy was appended instead of the original.
        case convertedCopy

        /// Something was archived under a name that is percent-encoded.
        case nameEncoded

        /// Something was named that is not there, by a URL or a path that was made in the wrong way.
        case sourceMisnamed

        /// The extension caught the cancellation and went on.
        case cancellationSwallowed

        /// `resourcesImportProgress` is a new object at each reading.
        case progressNotKept

        /// `resourcesImportProgress` never changed.
        case progressStill

        /// `resourcesImportProgress` did not end complete.
        case progressIncomplete

        /// Files in the import directory were never read.
        case resourcesUnread

        /// An app group was written to that still holds what was there before.
        case groupNotCleared
    }

    /// What kind of mistake it is.
    public let code: Code

    /// What was seen, in one sentence.
    public let message: String

    /// What to do about it, in one sentence.
    public let fix: String
}

// MARK: - Findings of an export

/// What an export showed of an extension's mistakes.
struct ExportFindings {
    private let estimate: Int
    private let version: String
    private let longestWait: Duration
    private let hangTimeout: Duration
    private let copies: SessionObserver.Examples
    private let encodedNames: SessionObserver.Examples
    private let misnamed: SessionObserver.Examples
    private let options: [String]

    /// The bytes that a directory of few files has on most file systems of Linux.
    private static let directorySize: UInt64 = 4096

    /// Takes what the session of `host` showed, which exported by `call`.
    init(_ host: AppExtensionHost, _ call: ExportCall) {
        estimate = host.description.exports?.sizeEstimate ?? 0
        options = call.options.keys.sorted()
        version = host.description.exports?.resourcesVersion ?? ""
        longestWait = host.observer.longestWait
        hangTimeout = host.appExtension.hangTimeout
        copies = host.observer.convertedCopies
        encodedNames = host.observer.encodedNames
        misnamed = host.observer.misnamed
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
            ofVersion, estimateOff(totals), appendGap, convertedCopy, nameEncoded, sourceMisnamed,
        ]
        .compactMap { $0 }
    }

    private func estimateOff(_ totals: ArchiveTotals) -> ExtensionFinding? {
        let bytes = totals.contentBytes
        let exported = Double(bytes)
        let off = abs(Double(estimate) - exported)
        guard off > 0.2 * exported else { return nil }
        let said = "resourcesSizeEstimate said \(estimate) bytes, \(bytes) were exported"
        if let count = directories(beyond: bytes, totals) {
            return ExtensionFinding(
                code: .estimateOff,
                message:
                    "\(said); the difference is \(count) times \(Self.directorySize), which is what "
                    + "Linux says to be the size of a directory",
                fix: "add up the sizes of regular files alone (isRegularFile)"
            )
        }
        guard options.isEmpty else {
            let names = options.map { PrintableText.escaping(ByteString(utf8: $0)) }
            return ExtensionFinding(
                code: .estimateOff,
                message:
                    "\(said); the export was asked for options that no estimate can see: "
                    + names.joined(separator: ", "),
                fix: "estimate an export without options; nothing is wrong where that is right"
            )
        }
        return ExtensionFinding(
            code: .estimateOff,
            message: said,
            fix: "add up the sizes of the files that exportResources appends"
        )
    }

    /// How many directories were counted as files, where that is the whole difference.
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
                "the extension went \(longestWait.text) without an append; "
                + "at \(hangTimeout.text) it is ended",
            fix: "append each item as soon as it is ready, and prepare the next one meanwhile"
        )
    }

    private var convertedCopy: ExtensionFinding? {
        guard copies.count > 0 else { return nil }
        return ExtensionFinding(
            code: .convertedCopy,
            message:
                "\(copies.count) large items came from the temporary directory: \(copies.text)",
            fix: "append the original files, and convert them on the importing side"
        )
    }

    private var nameEncoded: ExtensionFinding? {
        guard encodedNames.count > 0 else { return nil }
        return ExtensionFinding(
            code: .nameEncoded,
            message:
                "\(encodedNames.count) items have percent-encoded names in the archive: "
                + encodedNames.text,
            fix: "make pathInArchive of path(percentEncoded: false); path() is encoded"
        )
    }

    private var sourceMisnamed: ExtensionFinding? {
        guard misnamed.count > 0 else { return nil }
        return ExtensionFinding(
            code: .sourceMisnamed,
            message: "\(misnamed.count) items were appended that are not there: \(misnamed.text)",
            fix: "name them as they are, or the export goes without them"
        )
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

/// What an import showed of an extension's mistakes.
struct ImportFindings {
    let progress: ImportProgressSummary
    /// `nil` where nobody can tell.
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
                message: "resourcesImportProgress is a new object at each reading",
                fix: "make the Progress once, in a stored property, and update that"
            )
        }
        if !progress.hasMoved {
            return ExtensionFinding(
                code: .progressStill,
                message: "resourcesImportProgress never changed",
                fix: "count its completedUnitCount up as items are handled"
            )
        }
        guard progress.completed < progress.total || progress.total <= 0 else { return nil }
        return ExtensionFinding(
            code: .progressIncomplete,
            message:
                "resourcesImportProgress ended at \(progress.completed) of \(progress.total) units",
            fix: "set totalUnitCount to what there is to do, and end at it"
        )
    }

    private var unreadFinding: ExtensionFinding? {
        guard let unread, unread.count > 0 else { return nil }
        let names = unread.paths.joined(separator: ", ") + (unread.count > 3 ? ", …" : "")
        return ExtensionFinding(
            code: .resourcesUnread,
            message: "\(unread.count) files of the import were never read: \(names)",
            fix: "import them, or leave them out of the export"
        )
    }

    private func groupFinding(_ identifier: String) -> ExtensionFinding {
        ExtensionFinding(
            code: .groupNotCleared,
            message: "the app group \(identifier) was written to, and still holds older files",
            fix: "remove what an app group holds before importing to it: the system clears none"
        )
    }
}
