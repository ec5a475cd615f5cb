extension AppMigrationTester {
    /// What an export amounted to, and what the extension said of it.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct DeviceToDeviceExportProperties: Sendable {
        /// The bytes of content that the extension appended.
        public let uncompressedBytes: Int

        /// The bytes that the archive took; `nil` where the extension asks for no compression.
        public let compressedBytes: Int?

        /// The extension's estimate of the bytes, made before the export.
        public let sizeEstimate: Int

        /// The version of the exported format.
        public let version: String
    }
}
