extension AppMigrationTester {
    /// What an export amounted to, and what the extension said of it.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct DeviceToDeviceExportProperties: Sendable {
        /// The bytes of the stream that the export wrote: what the extension appended, and its names.
        public let uncompressedBytes: Int

        /// What compression made of that stream, which is never more; `nil` where the extension asks for
        /// no compression.
        public let compressedBytes: Int?

        /// The extension's estimate of the bytes, made before the export.
        public let sizeEstimate: Int

        /// The version of the exported format.
        public let version: String
    }
}
