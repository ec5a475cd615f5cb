public import MigrationSystem

/// An error in a rules file, a manifest or a backup of Android, or in reading or writing them.
///
/// Switch over ``code`` to decide what to do; show ``description`` to a person. New codes may
/// appear in a minor release, so keep a `default` branch.
public struct AndroidMigrationError: Error, Sendable {
    /// The kind of failure.
    public let code: Code

    /// The failure in one sentence, without the line and the cause.
    public let message: String

    /// The line of the file, if the failure is in one.
    public let line: Int?

    /// The system error that caused this one, if any.
    public let cause: SystemError?

    /// The remedy, if one is known.
    package let remedy: Remedy?

    package init(
        _ code: Code,
        _ message: String,
        line: Int? = nil,
        cause: SystemError? = nil,
        remedy: Remedy? = nil
    ) {
        (self.code, self.message, self.line, self.cause) = (code, message, line, cause)
        self.remedy = remedy
    }

    /// Does `body`, and throws an error of this code and message if a call to the system fails.
    static func wrapping<Value: ~Copyable>(
        _ code: Code,
        _ message: @autoclosure () -> String,
        _ body: () throws(SystemError) -> Value
    ) throws(AndroidMigrationError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw AndroidMigrationError(code, message(), cause: error)
        }
    }

    /// Does `body`, which makes a temporary file in `directory`.
    static func makingFile<Value: ~Copyable>(
        in directory: BytePath,
        _ body: () throws(SystemError) -> Value
    ) throws(AndroidMigrationError) -> Value {
        let name = PrintableText.escaping(directory)
        return try wrapping(.outputFailed, "no temporary file can be made in '\(name)'", body)
    }
}

extension AndroidMigrationError {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case appMismatch, damaged, notABackup, notAManifest, notEligible, notRules
            case nothingBackedUp, nothingToConvert, outputFailed, packageNotFound, passwordNeeded,
                severalPackages
            case unclearSizes, unreadable, unsupported, wrongPassword
        }

        private let value: Value

        /// The Android app doesn't name this iOS app.
        public static let appMismatch = Code(value: .appMismatch)

        /// The data is damaged.
        public static let damaged = Code(value: .damaged)

        /// The input isn't a backup of an Android app.
        public static let notABackup = Code(value: .notABackup)

        /// The file isn't a manifest of the expected kind.
        public static let notAManifest = Code(value: .notAManifest)

        /// The app doesn't take part in transfers to iOS.
        public static let notEligible = Code(value: .notEligible)

        /// The file isn't a backup rules file.
        public static let notRules = Code(value: .notRules)

        /// The backup is well formed but empty.
        public static let nothingBackedUp = Code(value: .nothingBackedUp)

        /// The backup holds data, but none that an app on iOS receives.
        public static let nothingToConvert = Code(value: .nothingToConvert)

        /// The output could not be made.
        public static let outputFailed = Code(value: .outputFailed)

        /// The backup doesn't contain the requested package.
        public static let packageNotFound = Code(value: .packageNotFound)

        /// The backup is encrypted, and no password was given.
        public static let passwordNeeded = Code(value: .passwordNeeded)

        /// The backup holds several packages, and none was chosen.
        public static let severalPackages = Code(value: .severalPackages)

        /// An entry's size fits, and so do the headers of other entries inside it.
        public static let unclearSizes = Code(value: .unclearSizes)

        /// A file or a directory can't be read.
        public static let unreadable = Code(value: .unreadable)

        /// The format is known but not supported.
        public static let unsupported = Code(value: .unsupported)

        /// The password is wrong.
        public static let wrongPassword = Code(value: .wrongPassword)

        /// The code's name.
        public var description: String { value.rawValue }
    }
}

extension AndroidMigrationError: CodedError {
    package var underlying: (any Error)? { cause }
    package var pathBytes: [UInt8]? { nil }
    package var remedies: [Remedy] { remedy.map { [$0] } ?? [] }
}

extension AndroidMigrationError: CustomStringConvertible {
    /// The line, the failure and the system's message for the cause.
    public var description: String {
        (line.map { "line \($0): " } ?? "") + message + (cause.map { ": \($0)" } ?? "")
    }
}
