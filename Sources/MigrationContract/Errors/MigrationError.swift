public import Foundation
internal import MigrationArchive

/// An error of a migration: of a container, of a destination, or of a persisted status.
///
/// Errors in an archive's bytes, or in reading or writing them, are `ArchiveError`. Switch over
/// ``code`` to decide what to do; show ``description`` to a person. New codes may appear in a minor
/// release, so keep a `default` branch.
public struct MigrationError: Error, Sendable {
    /// The kind of failure.
    public let code: Code

    /// What is wrong, in one sentence without the path and the cause.
    public let message: String

    /// The path that the failure is about, as it may be printed.
    public var path: String? { pathBytes.map(PrintableText.escaping) }

    /// The path as it is.
    package let pathBytes: [UInt8]?

    /// The error beneath this one, if there is one.
    public let cause: (any Error)?

    /// The last lines that an extension's process printed, where it ended before its time.
    public let printedLines: [String]

    package init(
        _ code: Code,
        _ message: String,
        path: [UInt8]? = nil,
        cause: (any Error)? = nil,
        printedLines: [String] = []
    ) {
        self.code = code
        self.message = message
        pathBytes = path
        self.cause = cause
        self.printedLines = printedLines
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
        }

        private let value: Value

        private init(value: Value) {
            self.value = value
        }

        /// An app or another migration holds the container.
        public static let containerBusy = Code(value: .containerBusy)

        /// The container holds data that nobody said to replace.
        public static let containerHoldsData = Code(value: .containerHoldsData)

        /// The container is missing, is no directory, is a link, or can't be read.
        public static let containerInvalid = Code(value: .containerInvalid)

        /// The archive is of another app than the container.
        public static let identifierMismatch = Code(value: .identifierMismatch)

        /// An import was cut off before it came to an end.
        public static let interrupted = Code(value: .interrupted)

        /// An option has a value that it can't have.
        public static let invalidOption = Code(value: .invalidOption)

        /// There is less room than is needed.
        public static let outOfSpace = Code(value: .outOfSpace)

        /// A file of the archive's name is there already.
        public static let outputExists = Code(value: .outputExists)

        /// The output can't be written.
        public static let outputFailed = Code(value: .outputFailed)

        /// The archive does not have the signature that is required of it.
        public static let signatureInvalid = Code(value: .signatureInvalid)

        /// Nothing can be signed, or no signature checked: `ssh-keygen` is missing, too old, or refuses.
        public static let signingFailed = Code(value: .signingFailed)

        /// The persisted status can't be read, or is of a version that is newer than this.
        public static let statusUnreadable = Code(value: .statusUnreadable)

        /// An extension went on after its session was cancelled.
        public static let cancellationIgnored = Code(value: .cancellationIgnored)

        /// The system can't confine an extension, and that was required.
        public static let confinementUnavailable = Code(value: .confinementUnavailable)

        /// The name of a directory must be encoded in a URL, which can't be hidden from the extension.
        public static let pathNeedsEncoding = Code(value: .pathNeedsEncoding)

        /// The extension's entitlement for the container is missing or says something else.
        public static let entitlementInvalid = Code(value: .entitlementInvalid)

        /// The extension's process ended before its work was done.
        public static let extensionCrashed = Code(value: .extensionCrashed)

        /// The extension threw an error, which is the ``MigrationError/cause``.
        public static let extensionFailed = Code(value: .extensionFailed)

        /// The extension made no progress for too long.
        public static let extensionHung = Code(value: .extensionHung)

        /// The extension can't do what was asked: a conformance, an option or a platform is missing.
        public static let extensionUnsuitable = Code(value: .extensionUnsuitable)

        /// An extension took more of the machine than it may: memory, or space for temporary files.
        public static let limitExceeded = Code(value: .limitExceeded)

        /// A path can't be that of an item, or of one in an archive.
        public static let invalidPath = Code(value: .invalidPath)

        /// Nobody said which extension and container a test is of.
        public static let nothingToTest = Code(value: .nothingToTest)

        /// An extension left something behind, and nothing was to be.
        public static let exportIncomplete = Code(value: .exportIncomplete)

        /// An item lies in no place that the extension may export from.
        public static let outsideContainer = Code(value: .outsideContainer)

        /// The host and the extension's process don't understand each other, or it can't be ended.
        public static let sessionFailed = Code(value: .sessionFailed)

        /// The name of the code, stable across releases.
        public var description: String { "\(value)" }

        /// Finds the code of a number; `nil` where there is none.
        package init?(number: Int) {
            guard let value = Value(rawValue: number) else { return nil }
            self.value = value
        }

        /// The number of the code, stable across releases.
        package var number: Int { value.rawValue }
    }
}

extension MigrationError: CustomNSError {
    /// The domain under which the error is persisted.
    public static var errorDomain: String { "MigrationCore.MigrationError" }

    /// The number of the code, stable across releases.
    public var errorCode: Int { code.number }

    /// The description, for whoever knows only `NSError`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension MigrationError: CustomStringConvertible {
    /// What is wrong, where, and why, for a report: the last lines of an extension included.
    public var description: String {
        var text = message
        if let path { text += ": \(path)" }
        if let cause { text += ": \(cause.wordsForReport)" }
        guard !printedLines.isEmpty else { return text }
        return text + "; it printed last:\n" + printedLines.joined(separator: "\n")
    }

    /// What is wrong and why, for a person: without paths of the host and what an extension printed.
    package var wordsForPerson: String {
        guard let cause else { return message }
        return message + ": " + ((cause as? MigrationError)?.wordsForPerson ?? cause.wordsForReport)
    }
}
