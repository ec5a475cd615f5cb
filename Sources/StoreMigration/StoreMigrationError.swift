public import MigrationSystem

/// Why a store can't be read, migrated or opened.
///
/// Switch over ``code`` to decide what to do; show ``description`` to a person. New codes may
/// appear in a minor release, so keep a `default` branch.
public struct StoreMigrationError: Error, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The problem, in one sentence.
    public let message: String

    /// The path of the store.
    public let path: String

    /// The system's error beneath this one, if there is one.
    public let cause: SystemError?

    /// The known remedies; several if a schema can't be reached for several reasons.
    package let remedies: [Remedy]

    package init(_ code: Code, _ message: String, at path: String, cause: SystemError? = nil) {
        (self.code, self.message, self.path, self.cause) = (code, message, path, cause)
        remedies = []
    }

    /// Makes the error of a store that can't be brought to a schema.
    init(_ reasons: [SchemaInference.Reason], at path: String) {
        (code, self.path, cause) = (.notInferable, path, nil)
        message = reasons.map(\.message).joined(separator: "; ")
        remedies = reasons.compactMap(\.remedy)
    }
}

extension StoreMigrationError {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case cancelled, damaged, exchangeUnsupported, failed, interrupted, invalidSchema
            case missing, missingStep, newer, notCurrent, notInferable, notUndone, outOfSpace
            case severalNames, storeBusy, storeChanged, stepFailed, unknownVersion
        }

        private let value: Value

        /// The work was cancelled; callers see a `CancellationError`.
        static let cancelled = Code(value: .cancelled)

        /// The store doesn't have the expected form, or its content is broken.
        public static let damaged = Code(value: .damaged)

        /// The file system can't exchange two names in one step.
        public static let exchangeUnsupported = Code(value: .exchangeUnsupported)

        /// A call to the system or to SQLite failed.
        public static let failed = Code(value: .failed)

        /// A migration was interrupted, and the store can't be opened before it is completed or
        /// undone.
        public static let interrupted = Code(value: .interrupted)

        /// The SQL of a schema does more than declare one, or SQLite refuses it.
        public static let invalidSchema = Code(value: .invalidSchema)

        /// There is no store at the path.
        public static let missing = Code(value: .missing)

        /// No step leads from the store's version towards the current one.
        public static let missingStep = Code(value: .missingStep)

        /// The store was made by a newer program.
        public static let newer = Code(value: .newer)

        /// The store needs a migration before it can be opened.
        public static let notCurrent = Code(value: .notCurrent)

        /// The store can't be brought to a schema without loss, or without more instructions.
        public static let notInferable = Code(value: .notInferable)

        /// The hook failed, and the migrated store stays because somebody has written to it since.
        public static let notUndone = Code(value: .notUndone)

        /// The file system has no space for the copies that a migration needs.
        public static let outOfSpace = Code(value: .outOfSpace)

        /// The store's file has another name too, and its log may be beside that name.
        public static let severalNames = Code(value: .severalNames)

        /// Another process or connection uses the store.
        public static let storeBusy = Code(value: .storeBusy)

        /// The store changed while it was being migrated.
        public static let storeChanged = Code(value: .storeChanged)

        /// A step left the store in another version than its target, or left it open.
        public static let stepFailed = Code(value: .stepFailed)

        /// The store has no version, or one that the plan doesn't know.
        public static let unknownVersion = Code(value: .unknownVersion)

        /// The code with this name; `nil` if this release has none.
        package init?(named name: String) {
            guard let value = Value(rawValue: name) else { return nil }
            self.init(value: value)
        }

        private init(value: Value) {
            self.value = value
        }

        /// The code's name.
        public var description: String { value.rawValue }
    }
}

extension StoreMigrationError: CodedError {
    package var underlying: (any Error)? { cause }
    package var pathBytes: [UInt8]? { [UInt8](path.utf8) }
}

extension StoreMigrationError: CustomStringConvertible {
    /// The problem, with the store's path and the system's text for the cause.
    public var description: String {
        "\(path): \(message)" + (cause.map { ": \($0)" } ?? "")
    }
}
