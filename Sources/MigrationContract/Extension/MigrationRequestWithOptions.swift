public import Foundation

/// What an export is for: the platform that the resources go to, and the options that it asks for.
///
/// Corresponds to AppMigrationKit's type of that name. The destination defines its options and what
/// their values mean.
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
        self.destinationPlatform = destinationPlatform
        self.options = options
    }
}

/// A request whose options are always empty.
public typealias MigrationRequest = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>
