/// The backup settings in an app's `AndroidManifest.xml`.
public struct AppManifest: Sendable {
    /// The package's name, if the file has it.
    public let package: String?

    /// Whether the app allows backups, which is the default.
    public let allowsBackup: Bool

    /// The API level that the app targets, if the file has it.
    public let targetVersion: Int?

    /// The line of the application's element.
    let applicationLine: Int

    private static let namespace = "http://schemas.android.com/apk/res/android|"

    /// Reads a manifest.
    ///
    /// - Parameter bytes: The file's content, in UTF-8 or UTF-16; binary XML is refused.
    /// - Throws: ``AndroidMigrationError`` of code `notAManifest` if the bytes are not a manifest.
    public init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        let root: XMLElement
        do throws(XMLProblem) {
            root = try XMLFile.root(of: bytes)
        } catch {
            throw AndroidMigrationError(.notAManifest, error.message, line: error.line)
        }
        guard root.name == "manifest" else {
            let message = "no AndroidManifest.xml: it does not begin with 'manifest'"
            throw AndroidMigrationError(.notAManifest, message, line: root.line)
        }
        package = root["package"]
        let application = root.children.first { $0.name == "application" }
        allowsBackup = application?[Self.namespace + "allowBackup"] != "false"
        applicationLine = application?.line ?? root.line
        targetVersion = root.children.first { $0.name == "uses-sdk" }
            .flatMap { $0[Self.namespace + "targetSdkVersion"] }
            .flatMap { Int($0) }
    }
}
