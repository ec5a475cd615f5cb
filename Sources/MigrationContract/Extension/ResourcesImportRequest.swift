/// Where the resources of an import come from.
///
/// Corresponds to AppMigrationKit's type of that name. The system makes one for each import; make
/// one only in tests.
public struct ResourcesImportRequest: Sendable {
    /// The app that exported the resources, by which to decide whether to trust them.
    public let sourceAppIdentifier: MigrationAppIdentifier

    /// The version of the format that the resources are in, as the exporting side named it.
    public let sourceVersion: String

    /// Makes a request, for a test.
    public init(sourceAppIdentifier: MigrationAppIdentifier, sourceVersion: String) {
        self.sourceAppIdentifier = sourceAppIdentifier
        self.sourceVersion = sourceVersion
    }
}
