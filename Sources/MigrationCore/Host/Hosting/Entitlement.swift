internal import MigrationArchive
internal import MigrationSystem

/// The entitlement by which an extension may reach its app's container.
///
/// Source: Apple's documentation of the key; its value is an array of exactly one string, the bundle
/// identifier of the app that contains the extension.
struct Entitlement {
    static let key = "com.apple.developer.app-migration.data-container-access"

    /// The entitlement of `appExtension`, checked; `nil` for a value in this process that has none.
    ///
    /// - Throws: ``EntitlementProblem``, and ``MigrationError`` where the file can't be read.
    static func check(
        _ appExtension: MigrationExtension,
        for container: MigrationDataContainer
    ) throws -> String? {
        guard let path = path(of: appExtension) else { return nil }
        let identifier = try identifier(inFileAt: path)
        if let known = container.knownIdentifier, known != identifier {
            throw EntitlementProblem.mismatched(identifier, container: known)
        }
        return identifier
    }

    private static func path(of appExtension: MigrationExtension) -> ByteString? {
        if let given = appExtension.entitlements { return ByteString(pathOf: given) }
        guard case .executable(let url) = appExtension.place else { return nil }
        return ByteString(pathOf: url) + ByteString(utf8: ".entitlements")
    }

    private static func identifier(inFileAt path: ByteString) throws -> String {
        let bytes: [UInt8]?
        do throws(SystemError) {
            let file = try FileDescriptor.openFollowingLinks(path, .reading)
            bytes = try file.readAll(limit: PropertyList.sizeLimit)
        } catch {
            let shown = PrintableText.escaping(path)
            guard !error.isMissing else { throw EntitlementProblem.noFile(shown) }
            let message = "the entitlements can't be read"
            throw MigrationError(.entitlementInvalid, message, path: path, cause: error)
        }
        guard let entitlements = bytes.flatMap({ PropertyList($0) }) else {
            let message = "the entitlements are no property list"
            throw MigrationError(.entitlementInvalid, message, path: path)
        }
        guard entitlements.contains(key) else { throw EntitlementProblem.missing }
        switch entitlements.strings(for: key) {
        case nil: throw EntitlementProblem.malformed
        case .empty: throw EntitlementProblem.empty
        case .one(let identifier): return identifier
        case .several(let count): throw EntitlementProblem.plural(count)
        }
    }
}
