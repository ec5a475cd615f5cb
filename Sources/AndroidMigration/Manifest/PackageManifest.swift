/// The `_manifest` at the start of a package's part of a backup.
struct PackageManifest: Hashable, Sendable {
    static let fileName = "_manifest"

    let package: String
    let versionCode: Int
    let systemVersion: Int

    /// The app that installed the package; empty if unknown.
    let installer: String

    init(package: String, versionCode: Int = 0, systemVersion: Int = 36) {
        self.package = package
        self.versionCode = versionCode
        self.systemVersion = systemVersion
        installer = ""
    }

    init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        var lines = ManifestLines(bytes, of: Self.fileName)
        let version = try lines.nextNumber("the version")
        guard version == 1 else {
            let message = "\(Self.fileName) is of version \(version), and version 1 is known"
            throw AndroidMigrationError(.unsupported, message)
        }
        package = try lines.next("the package's name")
        versionCode = try lines.nextNumber("the package's version")
        systemVersion = try lines.nextNumber("the system's version")
        installer = try lines.next("the installer")
    }

    /// The file's content, without an app and without signatures.
    var encoded: [UInt8] {
        [UInt8]("1\n\(package)\n\(versionCode)\n\(systemVersion)\n\(installer)\n0\n0\n".utf8)
    }
}
