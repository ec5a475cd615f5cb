/// An app's extension, which is its own program.
///
/// Corresponds to ExtensionFoundation's type of that name. The type that conforms carries `@main`
/// and has an initializer without arguments.
public protocol AppExtension {
    /// The type of the configuration.
    associatedtype Configuration: AppExtensionConfiguration

    /// The configuration that runs the extension.
    @preconcurrency @MainActor var configuration: Configuration { get }

    /// The extension point at which the host uses the extension; authors of migration extensions
    /// need not write it.
    @MainActor @AppExtensionPoint.Bind var extensionPoint: AppExtensionPoint { get }

    /// Makes the extension, once its process has started.
    @preconcurrency @MainActor init()
}

extension AppExtension {
    /// Makes the extension and runs it.
    ///
    /// - Throws: An error if this system can't run extensions of this configuration, and the errors
    ///   of running it.
    @preconcurrency @MainActor public static func main() throws {
        let configuration = Self().configuration
        guard let configuration = configuration as? any RunnableConfiguration else {
            throw UnrunnableExtensionError(name: "\(Self.self)")
        }
        try configuration.run()
    }
}
