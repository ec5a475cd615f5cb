/// The part of a host that an extension extends.
///
/// Corresponds to ExtensionFoundation's type of that name, with only the parts that an extension
/// names. Here a host runs the program that it is given, so nothing depends on the extension point.
public struct AppExtensionPoint: Hashable, Sendable {
    /// The name of an extension point.
    public struct Identifier: Hashable, Sendable {
        let name: String

        /// Makes the name of a point that has only one name.
        ///
        /// - Parameter name: The name.
        public init(_ name: StaticString) {
            self.name = "\(name)"
        }

        /// Makes the name of a point that an app declares.
        ///
        /// - Parameters:
        ///   - host: The bundle identifier of the app.
        ///   - name: The app's name for the point.
        public init(host: StaticString, name: StaticString) {
            self.name = "\(host).\(name)"
        }
    }

    /// Makes the extension point of a property that names it.
    @resultBuilder
    public struct Bind: Sendable {
        /// Makes the extension point of that name.
        public static func buildBlock(_ identifier: Identifier) -> AppExtensionPoint {
            AppExtensionPoint(identifier)
        }
    }

    private let identifier: Identifier

    init(_ identifier: Identifier) {
        self.identifier = identifier
    }
}

extension AppExtensionPoint.Identifier {
    /// The point of migrations, as an extension's property list names it on Apple's systems.
    package static let migration = AppExtensionPoint.Identifier("com.apple.app-migration")
}

extension AppExtension {
    /// The extension point of migrations, the only one here.
    @MainActor @AppExtensionPoint.Bind public var extensionPoint: AppExtensionPoint {
        AppExtensionPoint.Identifier.migration
    }
}
