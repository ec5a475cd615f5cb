public import Foundation

extension AppMigrationTester {
    /// What an export led to.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct ResourcesExportResult: Sendable {
        /// The directory that holds the resources, extracted; it lasts as long as the tester.
        public let extractedResourcesURL: URL

        /// What the export amounted to.
        public let exportProperties: AppMigrationTester.DeviceToDeviceExportProperties

        /// Keeps the resources, even where the tester is let go earlier.
        let directory: PrivateDirectory
    }
}
