internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem
internal import PropertyLists

/// The entitlements of an extension: access to its app's container and to app groups.
///
/// Source: Apple's documentation of the keys. The container's value is an array of exactly one
/// string, the bundle identifier of the app that contains the extension. The groups' value is an
/// array of their identifiers.
struct Entitlement {
    static let key = "com.apple.developer.app-migration.data-container-access"
    static let groupsKey = "com.apple.security.application-groups"

    /// The bundle identifier of the container's app.
    let identifier: String

    /// The identifiers of the app groups, sorted.
    let applicationGroups: [String]

    /// Checks the entitlement of `appExtension`; `nil` for a value in this process that has none.
    ///
    /// - Throws: ``EntitlementProblem``, and ``MigrationError`` if the file can't be read.
    static func check(
        _ appExtension: MigrationExtension,
        for container: MigrationDataContainer
    ) throws -> Entitlement? {
        guard let path = path(of: appExtension) else { return nil }
        let entitlement = try Entitlement(inFileAt: path)
        if let known = container.knownIdentifier, known != entitlement.identifier {
            throw EntitlementProblem.mismatched(entitlement.identifier, container: known)
        }
        try entitlement.checkGroups(of: appExtension)
        return entitlement
    }

    /// Checks that every declared group, and no other, has a directory or is omitted on purpose.
    private func checkGroups(of appExtension: MigrationExtension) throws(EntitlementProblem) {
        let named = appExtension.omittedGroups.union(appExtension.applicationGroups.keys)
        let undeclared = named.subtracting(applicationGroups).sorted()
        guard undeclared.isEmpty else {
            throw .groupsUndeclared(undeclared, declared: applicationGroups)
        }
        let unmapped = applicationGroups.filter { !named.contains($0) }
        guard unmapped.isEmpty else { throw .groupsUnmapped(unmapped) }
    }

    private static func path(of appExtension: MigrationExtension) -> BytePath? {
        if let given = appExtension.entitlements { return BytePath(of: given) }
        guard case .executable(let url) = appExtension.kind else { return nil }
        return BytePath(BytePath(of: url).bytes + Array(".entitlements".utf8))
    }
}

// MARK: - The file

extension Entitlement {
    private init(inFileAt path: BytePath) throws {
        let list = try Self.propertyList(at: path)
        guard let access = list[Self.key] else { throw EntitlementProblem.missing }
        guard let identifiers = access.strings else { throw EntitlementProblem.malformed }
        switch identifiers.count {
        case 0: throw EntitlementProblem.empty
        case 1: identifier = identifiers[0]
        default: throw EntitlementProblem.plural
        }
        if let flaw = BundleIdentifier.flaw(of: identifier) {
            throw EntitlementProblem.unusable(identifier, flaw)
        }
        guard let value = list[Self.groupsKey] else {
            applicationGroups = []
            return
        }
        guard let groups = value.strings, !groups.contains(""), groups.count < Self.groupLimit
        else {
            throw EntitlementProblem.groupsMalformed
        }
        applicationGroups = Set(groups).sorted()
    }

    /// More groups than any app has.
    private static let groupLimit = 1_000

    private static func propertyList(at path: BytePath) throws -> PropertyListValue {
        let bytes: [UInt8]?
        do throws(SystemError) {
            let file = try FileDescriptor.openFollowingLinks(path, .reading)
            bytes = try file.readAll(limit: PropertyListValue.fileSizeLimit)
        } catch {
            let shown = PrintableText.escaping(path)
            guard !error.isMissing else { throw EntitlementProblem.noFile(shown) }
            let message = "the entitlements can't be read"
            throw MigrationError(.entitlementInvalid, message, path: path, cause: error)
        }
        do {
            return try PropertyListValue.read(dictionaryIn: bytes)
        } catch {
            let message = "the entitlements are not a property list: \(error)"
            throw MigrationError(.entitlementInvalid, message, path: path)
        }
    }
}

// MARK: - Identifiers

/// The form of an app's bundle identifier.
///
/// Source: Apple's documentation of `CFBundleIdentifier`: reverse-DNS form with letters, digits,
/// hyphens and periods. Android's package names have underscores too.
private enum BundleIdentifier {
    /// The reason why `text` is not a bundle identifier, as the end of a sentence; `nil` if it is
    /// one.
    static func flaw(of text: String) -> String? {
        if text.isEmpty { return "is empty" }
        if text.contains("*") { return "has a wildcard" }
        let components = text.split(separator: ".", omittingEmptySubsequences: false)
        let isReverse =
            components.count > 1
            && components.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy(isAllowed)
            }
        guard isReverse else { return "is not in reverse-DNS form" }
        return isTeam(components[0]) ? "begins with a team identifier" : nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether `component` is a team identifier (ten capitals and digits) or a placeholder for one.
    private static func isTeam(_ component: Substring) -> Bool {
        let isCapital = component.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: false
            }
        }
        return component == "TEAMID" || isCapital && component.utf8.count == 10
    }
}

extension Entitlement {
    /// A warning if the name of the container's directory contradicts the entitlement; `nil`
    /// otherwise.
    ///
    /// The name counts only if nothing else names the container's app, and if the name has the form
    /// of an identifier: most directories have arbitrary names.
    func warning(for container: MigrationDataContainer) -> String? {
        let name = String(decoding: container.rootPath.lastComponent, as: UTF8.self)
        guard container.knownIdentifier == nil, name != identifier,
            BundleIdentifier.flaw(of: name) == nil
        else { return nil }
        return "\(Self.key) names \(PrintableText.escaping(identifier)), but the container's "
            + "directory is called \(PrintableText.escaping(name)); if the app is "
            + "\(PrintableText.escaping(name)), name it in the entitlement, otherwise name the "
            + "container's app"
    }
}

// MARK: - Problems

enum EntitlementProblem: Error {
    case noFile(String)
    case missing
    case malformed
    case empty
    case plural
    case unusable(String, String)
    case mismatched(String, container: String)
    case groupsMalformed
    case groupsUnmapped([String])
    case groupsUndeclared([String], declared: [String])

    /// The problem as an error that refuses a session.
    var error: MigrationError {
        MigrationError(.entitlementInvalid, "\(message); \(fix)", remedy: remedy)
    }

    /// The problem as a finding.
    var finding: ExtensionFinding {
        ExtensionFinding(code: code, message: message, fix: fix, remedy: remedy)
    }

    private var remedy: Remedy? {
        guard case .groupsUnmapped(let groups) = self else { return nil }
        return .mapGroups(groups.prefix(Self.listed).map { PrintableText.escaping($0) })
    }

    /// The declared app groups, as far as the problem names them.
    var declaredGroups: [String] {
        switch self {
        case .groupsUnmapped(let groups): groups
        case .groupsUndeclared(_, let declared): declared
        default: []
        }
    }

    private var code: ExtensionFinding.Code {
        switch self {
        case .noFile, .missing, .malformed: .entitlementMissing
        case .empty: .entitlementEmpty
        case .plural: .entitlementPlural
        case .unusable: .entitlementUnusable
        case .mismatched: .entitlementMismatched
        case .groupsMalformed, .groupsUndeclared: .groupNotDeclared
        case .groupsUnmapped: .groupNotMapped
        }
    }

    private var message: String {
        switch self {
        case .noFile(let path): "the extension has no entitlements at \(path)"
        case .missing: "the entitlements lack \(Entitlement.key)"
        case .malformed: "\(Entitlement.key) is not an array of strings"
        case .empty: "\(Entitlement.key) names no app"
        case .plural: "\(Entitlement.key) names several apps"
        case .unusable(let found, let flaw):
            "\(Entitlement.key) names '\(PrintableText.escaping(found))', which \(flaw)"
        case .mismatched(let found, let container):
            "\(Entitlement.key) names \(PrintableText.escaping(found)), but the container belongs to "
                + PrintableText.escaping(container)
        case .groupsMalformed: "\(Entitlement.groupsKey) is not an array of identifiers"
        case .groupsUnmapped(let groups):
            "\(Self.naming(groups)) declared in \(Entitlement.groupsKey) but has no directory"
        case .groupsUndeclared(let groups, _):
            "\(Self.naming(groups)) not declared in \(Entitlement.groupsKey)"
        }
    }

    private var fix: String {
        let value = "an array of exactly one string, the app's bundle identifier"
        return switch self {
        case .noFile: "put a property list there, or name one, with \(Entitlement.key): \(value)"
        case .missing: "add it: \(value)"
        case .malformed, .empty, .plural: "make it \(value)"
        case .unusable:
            "make it the app's bundle identifier, such as com.example.notes, without a team "
                + "identifier or a wildcard"
        case .mismatched:
            "name the container's app; if an app's bundle identifier changes, change this "
                + "entitlement too"
        case .groupsMalformed: "make it an array of strings, such as group.com.example.notes"
        case .groupsUnmapped: "give it a directory, or leave out its data on purpose"
        case .groupsUndeclared(_, let declared):
            declared.isEmpty
                ? "add it to the entitlements, which declare none, or don't name it"
                : "correct its name, or add it to the entitlements, which declare "
                    + Self.list(declared)
        }
    }

    /// The maximum number of groups in a message.
    private static let listed = 3

    private static func naming(_ groups: [String]) -> String {
        groups.count == 1
            ? "the app group \(list(groups)) is" : "each of the app groups \(list(groups)) is"
    }

    private static func list(_ groups: [String]) -> String {
        groups.prefix(listed).map { PrintableText.escaping($0) }.joined(separator: ", ")
            + (groups.count > listed ? " and \(groups.count - listed) more" : "")
    }
}
