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
