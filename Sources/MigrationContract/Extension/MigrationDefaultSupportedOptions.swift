/// The options of an extension that supports none.
///
/// Corresponds to AppMigrationKit's type of that name. It has no cases: there is never a value of it.
public enum MigrationDefaultSupportedOptions: RawRepresentable, Hashable, CaseIterable, Sendable {
    /// The type of an option's name.
    public typealias RawValue = String

    /// The type of the collection of all options.
    public typealias AllCases = [MigrationDefaultSupportedOptions]

    /// All options: none.
    public static let allCases: [MigrationDefaultSupportedOptions] = []

    /// Returns `nil`, whatever the name.
    public init?(rawValue: String) {
        nil
    }

    /// The option's name.
    public var rawValue: String {
        switch self {}
    }
}
