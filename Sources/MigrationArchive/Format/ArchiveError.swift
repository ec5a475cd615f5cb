public import Foundation
public import MigrationSystem

/// An error in an archive's bytes, or in reading or writing them.
///
/// Switch over ``code`` to decide what to do; show ``description`` to a person. New codes may
/// appear in a minor release, so keep a `default` branch.
public struct ArchiveError: Error, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The problem, in one sentence without the path and the cause.
    public private(set) var message: String

    /// The entry that the failure is about, if it is about one.
    public private(set) var entry: EntryPath?

    /// The byte offset in the tar stream at which the failure was found, if one is known.
    public private(set) var offset: UInt64?

    /// The system's error beneath this one, if there is one.
    public let cause: SystemError?

    /// The remedy, if one is known.
    package let remedy: Remedy?

    package init(
        _ code: Code,
        _ message: String,
        entry: EntryPath? = nil,
        offset: UInt64? = nil,
        cause: SystemError? = nil,
        remedy: Remedy? = nil
    ) {
        self.code = code
        self.message = message
        self.entry = entry
        self.offset = offset
        self.cause = cause
        self.remedy = remedy
    }
}

extension ArchiveError {
    /// The kinds of failure that an archive can report.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: Int {
            case damaged = 1
            case entryExists = 2
            case inputFailed = 3
            case notAnArchive = 4
            case notFound = 5
            case outOfSpace = 6
            case outputFailed = 7
            case refused = 8
            case sourceChanged = 9
            case sourceUnreadable = 10
            case truncated = 11
            case unsupported = 12
            case unrepresentable = 13
            case headerDamaged = 14
            case keyInvalid = 15
            case keyMissing = 16
            case keyRefused = 17
            case passphraseWrong = 18
            case workFactorTooLarge = 19
            case externalLink = 20
        }

        private let value: Value

        private init(value: Value) {
            self.value = value
        }

        /// The bytes have changed: a hash, a checksum or the structure is wrong.
        public static let damaged = Code(value: .damaged)

        /// The path comes twice in the archive, or a file exists there already.
        public static let entryExists = Code(value: .entryExists)

        /// A link leads out of the container, or may.
        public static let externalLink = Code(value: .externalLink)

        /// The header of an encrypted archive has changed.
        public static let headerDamaged = Code(value: .headerDamaged)

        /// Reading the archive failed; the archive itself may be intact.
        public static let inputFailed = Code(value: .inputFailed)

        /// The value given as a recipient, an identity or a passphrase is not valid.
        public static let keyInvalid = Code(value: .keyInvalid)

        /// The archive is encrypted, and no key of the right kind was given.
        public static let keyMissing = Code(value: .keyMissing)

        /// The archive is not encrypted for any of the given identities.
        public static let keyRefused = Code(value: .keyRefused)

        /// The bytes are neither a migration archive nor a tar file.
        public static let notAnArchive = Code(value: .notAnArchive)

        /// The archive holds no entry of that path.
        public static let notFound = Code(value: .notFound)

        /// The disk is full.
        public static let outOfSpace = Code(value: .outOfSpace)

        /// Writing failed.
        public static let outputFailed = Code(value: .outputFailed)

        /// The archive was encrypted with another passphrase.
        public static let passphraseWrong = Code(value: .passphraseWrong)

        /// An entry is well formed but must not be restored: its path leads out, or its kind is not supported.
        public static let refused = Code(value: .refused)

        /// A file changed while it was read.
        public static let sourceChanged = Code(value: .sourceChanged)

        /// A file could not be read.
        public static let sourceUnreadable = Code(value: .sourceUnreadable)

        /// The archive ends before it is complete.
        public static let truncated = Code(value: .truncated)

        /// The file or entry can't be archived.
        public static let unrepresentable = Code(value: .unrepresentable)

        /// The archive uses a feature that this version does not know.
        public static let unsupported = Code(value: .unsupported)

        /// Opening the archive with its passphrase takes more memory than is allowed.
        public static let workFactorTooLarge = Code(value: .workFactorTooLarge)

        /// The name of the code, stable across releases.
        public var description: String { "\(value)" }

        /// The code with this number; `nil` if there is none.
        package init?(number: Int) {
            guard let value = Value(rawValue: number) else { return nil }
            self.value = value
        }

        /// The number of the code, stable across releases.
        var number: Int { value.rawValue }
    }

    /// Whether the archive itself may be intact and only its key is wrong or missing.
    package var isAboutKey: Bool {
        [.keyInvalid, .keyMissing, .keyRefused, .passphraseWrong, .workFactorTooLarge].contains(
            code
        )
    }
}

extension ArchiveError: CustomNSError {
    /// The domain under which the error is persisted.
    public static var errorDomain: String { "MigrationArchive.ArchiveError" }

    /// The number of the code, stable across releases.
    public var errorCode: Int { code.number }

    /// The description, for code that only knows `NSError`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension ArchiveError: CodedError {
    package var underlying: (any Error)? { cause }
    package var pathBytes: [UInt8]? { entry?.bytes }
    package var remedies: [Remedy] { remedy.map { [$0] } ?? [] }
}

extension ArchiveError: DescribedError {
    /// The problem, where it is, and its cause.
    public var description: String {
        var text = message
        if let entry { text += ": \(entry)" }
        if let offset { text += " (at byte \(offset) of the tar stream)" }
        if let cause { text += ": \(cause)" }
        return text
    }
}

extension ArchiveError {
    /// The error of an archive that ends too early, the same from a file and from a pipe.
    static var cutShort: ArchiveError {
        ArchiveError(.truncated, "the archive is cut short: its end is missing")
    }
}

// MARK: - Its place

/// Where in an archive an error is, added by callers that know it.
extension ArchiveError {
    /// Whether the error is in the archive, so that an offset in it is useful.
    var isOfArchive: Bool {
        switch code {
        case .damaged, .entryExists, .externalLink, .refused, .truncated, .unsupported: true
        default: false
        }
    }

    /// Whether bytes are damaged, so that the start of the next entry is unknown.
    var isDamage: Bool { code == .damaged || code == .truncated }

    /// The description without the entry's path.
    var withoutEntry: String {
        var error = self
        error.entry = nil
        return error.description
    }

    /// The same error at `offset` of the tar stream, unless it already has an offset.
    func located(at offset: UInt64) -> ArchiveError {
        guard isOfArchive, self.offset == nil else { return self }
        var error = self
        error.offset = offset
        return error
    }

    /// The same error about the entry at `path`, unless it already names an entry.
    func about(_ path: EntryPath) -> ArchiveError {
        guard isOfArchive, entry == nil else { return self }
        var error = self
        error.entry = path
        return error
    }

    /// The same error, found after the entry at `path`, unless it is about an entry itself.
    func following(_ path: EntryPath?) -> ArchiveError {
        guard isOfArchive, entry == nil, let path else { return self }
        var error = self
        error.message += ", after \(path)"
        return error
    }
}

// MARK: - Restoring

extension ArchiveError {
    /// The call that makes a temporary file; its failure is not about an entry.
    static let temporaryCall = "tmpfile"

    /// Makes the error for the entry at `path`, which could not be restored.
    init(_ error: SystemError, restoring path: EntryPath) {
        if error.call == Self.temporaryCall {
            let directory = PrintableText.escaping(Environment.temporaryDirectory)
            let message =
                "no temporary file can be made in \(directory); set TMPDIR to another directory"
            self.init(error.isOutOfSpace ? .outOfSpace : .outputFailed, message, cause: error)
        } else if error.isOutOfSpace {
            self.init(.outOfSpace, "no space is left to write", entry: path, cause: error)
        } else if error.isExisting {
            self.init(.entryExists, "the path exists already", entry: path)
        } else if error.isNotDirectory {
            let message = "a part of the path is a link or a file, not a directory"
            self.init(.refused, message, entry: path)
        } else {
            self.init(.outputFailed, "can't be restored", entry: path, cause: error)
        }
    }

    /// Names the entry at `path` and its `offset` in an error that names none itself.
    static func located(
        _ error: any Error,
        restoring path: EntryPath,
        at offset: UInt64
    ) -> any Error {
        switch error {
        case let error as SystemError: ArchiveError(error, restoring: path).located(at: offset)
        case let error as ArchiveError: error.about(path).located(at: offset)
        default: error
        }
    }
}
