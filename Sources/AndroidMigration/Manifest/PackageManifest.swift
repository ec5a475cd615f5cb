/// The `_manifest` at the start of a package's part of a backup.
struct PackageManifest: Hashable, Sendable {
    static let fileName = "_manifest"

    let package: String
    let versionCode: Int
    let systemVersion: Int

    /// The app that installed the package; empty if unknown.
    let installer: String

    init(package: String, versionCode: Int = 0, systemVersion: Int = 36) {
        (self.package, self.versionCode, self.systemVersion) = (package, versionCode, systemVersion)
        installer = ""
    }

    init(_ bytes: [UInt8]) throws(AndroidMigrationError) {
        var lines = try ManifestLines(bytes, of: Self.fileName)
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

// MARK: - Lines

/// The lines of a manifest in a backup; each ends with a line feed.
struct ManifestLines {
    private var rest: ArraySlice<UInt8>
    private let name: String

    /// Reads the first line, which must be the known version.
    init(_ bytes: [UInt8], of name: String) throws(AndroidMigrationError) {
        rest = bytes[...]
        self.name = name
        let version = try nextNumber("the version")
        guard version == 1 else {
            let message = "\(name) is of version \(version), and version 1 is known"
            throw AndroidMigrationError(.unsupported, message)
        }
    }

    /// Reads the next line, which contains `content`.
    mutating func next(_ content: String) throws(AndroidMigrationError) -> String {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            throw AndroidMigrationError(.notAManifest, "\(name) ends before \(content)")
        }
        guard let line = String(validating: rest[..<end], as: UTF8.self) else {
            throw AndroidMigrationError(.notAManifest, "\(name): \(content) is no UTF-8 text")
        }
        rest = rest[(end + 1)...]
        return line
    }

    /// Reads the next line, a non-negative number.
    mutating func nextNumber(_ content: String) throws(AndroidMigrationError) -> Int {
        let line = try next(content)
        guard let number = Int(line), number >= 0 else {
            throw AndroidMigrationError(.notAManifest, "\(name): \(content) isn't a number")
        }
        return number
    }
}
