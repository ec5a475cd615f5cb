extension MigrationAppIdentifier {
    /// A store that apps are from.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct StoreIdentifier: RawRepresentable, Hashable, Codable, Sendable {
        /// The type of the store's name.
        public typealias RawValue = String

        /// The store's name.
        public let rawValue: String

        /// Makes a store of any name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a store of any name.
        public init(_ rawValue: String) {
            self.init(rawValue: rawValue)
        }

        /// Google Play.
        public static let googlePlay = StoreIdentifier("googlePlay")
    }
}

extension MigrationAppIdentifier.StoreIdentifier {
    /// Apple's App Store; an addition to Apple's constants.
    public static let appStore = Self("appStore")
}
