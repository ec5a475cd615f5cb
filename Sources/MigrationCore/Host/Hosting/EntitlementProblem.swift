internal import MigrationArchive

/// What is wrong with an entitlement.
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
        MigrationError(.entitlementInvalid, "\(finding.message); \(finding.fix)")
    }

    /// The problem as a finding.
    var finding: ExtensionFinding {
        ExtensionFinding(code: code, message: message, fix: fix)
    }

    /// The app groups that are known to be declared, all of them where a group is the problem.
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
        case .malformed: "\(Entitlement.key) is no array of strings"
        case .empty: "\(Entitlement.key) names no app"
        case .plural: "\(Entitlement.key) names several apps"
        case .unusable(let found, let flaw):
            "\(Entitlement.key) names '\(PrintableText.escaping(found))', which \(flaw)"
        case .mismatched(let found, let container):
            "\(Entitlement.key) names \(PrintableText.escaping(found)), the container is of "
                + PrintableText.escaping(container)
        case .groupsMalformed: "\(Entitlement.groupsKey) is no array of identifiers"
        case .groupsUnmapped(let groups):
            "\(Self.naming(groups)) declared in \(Entitlement.groupsKey) and has no directory"
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
            "name the app whose container it is; when an app's bundle identifier changes, this "
                + "entitlement has to change along with it"
        case .groupsMalformed: "make it an array of strings, such as group.com.example.notes"
        case .groupsUnmapped(let groups): Self.mapping(groups)
        case .groupsUndeclared(_, let declared):
            declared.isEmpty
                ? "add it to the entitlements, which declare none, or don't name it"
                : "correct its name, or add it to the entitlements, which declare "
                    + Self.list(declared)
        }
    }

    private static func mapping(_ groups: [String]) -> String {
        let flags = groups.prefix(listed).map { "--group \(PrintableText.escaping($0))=<dir>" }
        let example = groups.first.map { PrintableText.escaping($0) } ?? ""
        return "give its directory with \(flags.joined(separator: " ")), or leave its data out on "
            + "purpose with --no-group \(example)"
    }

    /// How many groups a message names.
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
