public import Foundation

/// A request to export: the platform that the resources go to, and the options that it asks for.
///
/// Corresponds to AppMigrationKit's type of that name. The destination defines its options and the
/// meaning of their values.
public struct MigrationRequestWithOptions<OptionsType>: Sendable
where
    OptionsType: CaseIterable, OptionsType: Hashable, OptionsType: RawRepresentable,
    OptionsType: Sendable, OptionsType.RawValue == String
{
    /// The platform of the device that the resources go to.
    public let destinationPlatform: MigrationPlatform

    /// The value of each option that the destination asks for.
    public let options: [OptionsType: Data]

    /// Makes a request for a platform, with options or without.
    public init(
        destinationPlatform: MigrationPlatform,
        options: [OptionsType: Data] = [:]
    ) {
        (self.destinationPlatform, self.options) = (destinationPlatform, options)
    }
}

/// A request whose options are always empty.
public typealias MigrationRequest = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>

/// The options of an extension that supports none.
///
/// Corresponds to AppMigrationKit's type of that name. It has no cases, so it has no values.
public enum MigrationDefaultSupportedOptions: RawRepresentable, Hashable, CaseIterable, Sendable {
    /// The type of an option's name.
    public typealias RawValue = String

    /// The type of the collection of all options.
    public typealias AllCases = [MigrationDefaultSupportedOptions]

    /// All options: none.
    public static let allCases: [MigrationDefaultSupportedOptions] = []

    /// Returns `nil` for every name.
    public init?(rawValue: String) {
        nil
    }

    /// The option's name.
    public var rawValue: String {
        switch self {}
    }
}

/// A request to import: the app that the resources come from, and their version.
///
/// Corresponds to AppMigrationKit's type of that name. The system makes one for each import; make
/// one only in tests.
public struct ResourcesImportRequest: Sendable {
    /// The app that exported the resources; use it to decide whether to trust them.
    public let sourceAppIdentifier: MigrationAppIdentifier

    /// The version of the format of the resources, as the exporting extension named it.
    public let sourceVersion: String

    /// Makes a request for a test.
    public init(sourceAppIdentifier: MigrationAppIdentifier, sourceVersion: String) {
        (self.sourceAppIdentifier, self.sourceVersion) = (sourceAppIdentifier, sourceVersion)
    }
}
