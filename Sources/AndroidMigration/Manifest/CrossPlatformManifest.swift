internal import MigrationArchive
internal import MigrationSystem

/// The `_cross_platform_manifest` of a backup: the apps on the other platform that may get its data.
public struct CrossPlatformManifest: Hashable, Sendable {
    /// The name of the file in a backup.
    public static let fileName = "_cross_platform_manifest"

    /// The largest manifest that Android reads, in bytes (BackupManagerConstants, 64 KiB).
    package static let sizeLimit = 64 * 1024

    /// The package on Android.
    public let package: String

    /// The other platform, such as `ios`.
    public let platform: String

    /// The apps on it.
    public let parameters: [PlatformParameters]

    /// The hashes of the certificates that the package is signed with, in hexadecimal digits.
    public let signatures: [String]

    /// Makes a manifest from its parts.
    ///
    /// - Parameters:
    ///   - package: The package on Android.
    ///   - platform: The other platform.
    ///   - parameters: The apps on it.
    ///   - signatures: The SHA-256 hashes of the signing certificates, in hexadecimal digits.
    public init(
        package: String,
        platform: String = "ios",
        parameters: [PlatformParameters],
        signatures: [String] = []
    ) {
        (self.package, self.platform, self.parameters) = (package, platform, parameters)
        self.signatures = signatures
    }

    /// Reads a manifest.
    ///
    /// - Parameter bytes: The file's content.
    /// - Throws: ``AndroidMigrationError`` of code `notAManifest` if it is malformed or truncated, and
    ///   of code `unsupported` if it has another version.
    public init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        guard bytes.count <= Self.sizeLimit else {
            throw AndroidMigrationError(.notAManifest, "\(Self.fileName) is larger than 64 KiB")
        }
        var lines = try ManifestLines(bytes, of: Self.fileName)
        package = try lines.next("the package's name")
        platform = try lines.next("the platform")
        var parameters: [PlatformParameters] = []
        for _ in 0..<(try lines.nextNumber("the number of apps")) {
            let app = PlatformParameters(
                bundleIdentifier: try lines.next("a bundle identifier"),
                teamIdentifier: try lines.next("a team identifier"),
                contentVersion: try lines.next("a content version")
            )
            parameters.append(app)
        }
        self.parameters = parameters
        var signatures: [String] = []
        for _ in 0..<(try lines.nextNumber("the number of signatures")) {
            let signature = try lines.next("a signature")
            guard signature.utf8.count.isMultiple(of: 2), signature.allSatisfy(\.isHexDigit) else {
                let message = "\(Self.fileName): a signature is not of hexadecimal digits"
                throw AndroidMigrationError(.notAManifest, message)
            }
            signatures.append(signature)
        }
        self.signatures = signatures
    }

    /// Writes the manifest as Android does.
    ///
    /// - Returns: The file's content.
    /// - Throws: ``AndroidMigrationError`` of code `notAManifest` if a part contains a line feed.
    public func encoded() throws(AndroidMigrationError) -> [UInt8] {
        var lines = ["1", package, platform, "\(parameters.count)"]
        for app in parameters {
            lines += [app.bundleIdentifier, app.teamIdentifier, app.contentVersion]
        }
        lines.append("\(signatures.count)")
        lines += signatures.map { $0.lowercased() }
        if let line = lines.first(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) {
            let text = PrintableText.escaping(line)
            throw AndroidMigrationError(.notAManifest, "'\(text)' holds a line feed")
        }
        return [UInt8](lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The apps on the other platform, each as `TEAM.bundle`.
    package var importers: [String] {
        parameters.map { "\($0.teamIdentifier).\($0.bundleIdentifier)" }
    }

    /// The entry for an app on the other platform.
    ///
    /// - Parameter app: The app; Android compares both identifiers exactly.
    /// - Returns: The app's parameters in the manifest.
    /// - Throws: ``AndroidMigrationError`` of code `appMismatch` if the manifest doesn't name the app.
    public func parameters(for app: AppIdentity) throws(AndroidMigrationError) -> PlatformParameters
    {
        if let match = parameters.first(where: {
            $0.bundleIdentifier == app.bundleIdentifier && $0.teamIdentifier == app.teamIdentifier
        }) {
            return match
        }
        let list = importers.isEmpty ? "none" : importers.joined(separator: ", ")
        throw AndroidMigrationError(
            .appMismatch,
            "the package '\(package)' hands its data to \(list) and not to '\(app)'"
        )
    }
}

/// An app on iOS by its team and its bundle identifier, as in `ABCDE12345.com.example.notes`.
public struct AppIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The identifier of the team that signs the app.
    public let teamIdentifier: String

    /// The app's bundle identifier.
    public let bundleIdentifier: String

    /// Parses both, separated by a dot; `nil` if one is missing.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        teamIdentifier = String(parts[0])
        bundleIdentifier = String(parts[1])
    }

    /// Both, separated by a dot.
    public var description: String { "\(teamIdentifier).\(bundleIdentifier)" }
}
