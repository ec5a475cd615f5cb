public import Foundation
package import MigrationSystem

/// An error of a migration: in a container, an extension, a destination or a persisted status.
///
/// An error in an archive's bytes, or in reading or writing them, is an `ArchiveError`. Switch over
/// ``code`` to decide what to do, and show ``description`` to a person. A minor release may add
/// codes, so keep a `default` branch.
public struct MigrationError: Error, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The failure in one sentence, without the path and the cause.
    public let message: String

    /// The path that the failure is about, in a form that is safe to print.
    public var path: String? { bytePath.map { PrintableText.escaping($0.bytes) } }

    /// The path itself.
    package let bytePath: BytePath?

    /// The error that caused this one, if there is one.
    public let cause: (any Error)?

    /// The last lines that an extension's process printed, if it ended too early.
    public let printedLines: [String]

    /// The remedy, if one is known.
    package let remedy: Remedy?

    package init(
        _ code: Code,
        _ message: String,
        path: BytePath? = nil,
        cause: (any Error)? = nil,
        printedLines: [String] = [],
        remedy: Remedy? = nil
    ) {
        (self.code, self.message) = (code, message)
        bytePath = path
        (self.cause, self.printedLines, self.remedy) = (cause, printedLines, remedy)
    }
}

extension MigrationError {
    /// The kinds of failure that a migration can report.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: Int {
            case containerBusy = 1
            case containerHoldsData = 2
            case containerInvalid = 3
            case identifierMismatch = 4
            case interrupted = 5
            case invalidOption = 6
            case outOfSpace = 7
            case outputExists = 8
            case outputFailed = 9
            case statusUnreadable = 10
            case cancellationIgnored = 11
            case confinementUnavailable = 12
            case entitlementInvalid = 13
            case extensionCrashed = 14
            case extensionFailed = 15
            case extensionHung = 16
            case extensionUnsuitable = 17
            case invalidPath = 18
            case outsideContainer = 19
            case sessionFailed = 20
            case nothingToTest = 21
            case pathNeedsEncoding = 22
            case exportIncomplete = 23
            case limitExceeded = 24
            case signatureInvalid = 25
            case signingFailed = 26
            case fingerprintMismatch = 27
            case commandFailed = 28
            case archiveBusy = 29
            case unreadable = 30
        }

        private let value: Value

        private init(value: Value) {
            self.value = value
        }

        /// Another process is writing the archive.
        public static let archiveBusy = Code(value: .archiveBusy)

        /// The command that consumes or produces an archive's stream failed or can't be started.
        public static let commandFailed = Code(value: .commandFailed)

        /// An app or another migration holds the container.
        public static let containerBusy = Code(value: .containerBusy)

        /// The container holds data, and the caller did not ask to replace it.
        public static let containerHoldsData = Code(value: .containerHoldsData)

        /// The container is missing, isn't a directory, is a link, or can't be read.
        public static let containerInvalid = Code(value: .containerInvalid)

        /// The archive does not have the expected fingerprint.
        public static let fingerprintMismatch = Code(value: .fingerprintMismatch)

        /// The archive and the container belong to different apps.
        public static let identifierMismatch = Code(value: .identifierMismatch)

        /// A small file that a person names, such as a key or a list of patterns, can't be read.
        package static let unreadable = Code(value: .unreadable)

        /// An import was interrupted.
        public static let interrupted = Code(value: .interrupted)

        /// An option has an invalid value.
        public static let invalidOption = Code(value: .invalidOption)

        /// There isn't enough space.
        public static let outOfSpace = Code(value: .outOfSpace)

        /// A file with the archive's name already exists.
        public static let outputExists = Code(value: .outputExists)

        /// The output can't be written.
        public static let outputFailed = Code(value: .outputFailed)

        /// The archive lacks the required signature.
        public static let signatureInvalid = Code(value: .signatureInvalid)

        /// A signature can't be made or checked: `ssh-keygen` is missing, too old, or refuses.
        public static let signingFailed = Code(value: .signingFailed)

        /// The persisted status can't be read, or a newer version wrote it.
        public static let statusUnreadable = Code(value: .statusUnreadable)

        /// An extension continued after its session was cancelled.
        public static let cancellationIgnored = Code(value: .cancellationIgnored)

        /// The system can't confine an extension, and the caller required it.
        public static let confinementUnavailable = Code(value: .confinementUnavailable)

        /// A URL encodes a directory's name, and the host can't hide the name from the extension.
        public static let pathNeedsEncoding = Code(value: .pathNeedsEncoding)

        /// The extension's entitlement for the container is missing or names another container.
        public static let entitlementInvalid = Code(value: .entitlementInvalid)

        /// The extension's process ended before it finished its work.
        public static let extensionCrashed = Code(value: .extensionCrashed)

        /// The extension threw an error, which is the ``MigrationError/cause``.
        public static let extensionFailed = Code(value: .extensionFailed)

        /// The extension made no progress for too long.
        public static let extensionHung = Code(value: .extensionHung)

        /// The extension lacks a conformance, an option or a platform that the request needs.
        public static let extensionUnsuitable = Code(value: .extensionUnsuitable)

        /// An extension exceeded its limit of memory or of space for temporary files.
        public static let limitExceeded = Code(value: .limitExceeded)

        /// A path isn't valid for an item, or for an entry of an archive.
        public static let invalidPath = Code(value: .invalidPath)

        /// A test has neither an extension nor a container to test.
        public static let nothingToTest = Code(value: .nothingToTest)

        /// An extension left files behind, and the caller required a complete export.
        public static let exportIncomplete = Code(value: .exportIncomplete)

        /// An item is outside the directories that the extension may export from.
        public static let outsideContainer = Code(value: .outsideContainer)

        /// The host and the extension's process can't communicate, or the process can't be ended.
        public static let sessionFailed = Code(value: .sessionFailed)

        /// The name of the code, stable across releases.
        public var description: String { "\(value)" }

        /// Finds the code of a number; `nil` if there is none.
        package init?(number: Int) {
            guard let value = Value(rawValue: number) else { return nil }
            self.value = value
        }

        /// The number of the code, stable across releases.
        package var number: Int { value.rawValue }
    }
}

extension MigrationError: CustomNSError {
    /// The domain of the persisted error.
    public static var errorDomain: String { "MigrationCore.MigrationError" }

    /// The number of the code, stable across releases.
    public var errorCode: Int { code.number }

    /// The description, for code that knows only `NSError`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension MigrationError: CodedError {
    package var underlying: (any Error)? { cause }
    package var pathBytes: [UInt8]? { bytePath?.bytes }
    package var remedies: [Remedy] { remedy.map { [$0] } ?? [] }
}

extension MigrationError: LocalizedError {
    /// The description, which `localizedDescription` returns too.
    public var errorDescription: String? { description }
}

extension MigrationError: CustomStringConvertible {
    /// The failure, its path and its cause for a report, with the last lines of an extension.
    public var description: String {
        var text = message
        if let path { text += ": \(path)" }
        if let cause { text += ": \(cause.wordsForReport)" }
        guard !printedLines.isEmpty else { return text }
        return text + "; it printed last:\n" + printedLines.joined(separator: "\n")
    }

    /// The failure and its cause for a person, without paths of the host and an extension's output.
    package var wordsForPerson: String {
        guard let cause else { return message }
        return message + ": " + ((cause as? MigrationError)?.wordsForPerson ?? cause.wordsForReport)
    }
}
