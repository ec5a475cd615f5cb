internal import MigrationArchive

/// What is wrong with an entitlement.
enum EntitlementProblem: Error {
    case noFile(String)
    case missing
    case malformed
    case empty
    case plural(Int)
    case mismatched(String, container: String)

    /// The problem as an error that refuses a session.
    var error: MigrationError {
        MigrationError(.entitlementInvalid, "\(finding.message); \(finding.fix)")
    }

    /// The problem as a finding.
    var finding: ExtensionFinding {
        ExtensionFinding(code: code, message: message, fix: fix)
    }

    private var code: ExtensionFinding.Code {
        switch self {
        case .noFile, .missing, .malformed: .entitlementMissing
        case .empty: .entitlementEmpty
        case .plural: .entitlementPlural
        case .mismatched: .entitlementMismatched
        }
    }

    private var message: String {
        switch self {
        case .noFile(let path): "the extension has no entitlements at \(path)"
        case .missing: "the entitlements lack \(Entitlement.key)"
        case .malformed: "\(Entitlement.key) is no array of strings"
        case .empty: "\(Entitlement.key) names no app"
        case .plural(let count): "\(Entitlement.key) names \(count) apps"
        case .mismatched(let found, let container):
            "\(Entitlement.key) names \(PrintableText.escaping(found)), the container is of "
                + PrintableText.escaping(container)
        }
    }

    private var fix: String {
        let value = "an array of exactly one string, the app's bundle identifier"
        return switch self {
        case .noFile: "put a property list there, or name one, with \(Entitlement.key): \(value)"
        case .missing: "add it: \(value)"
        case .malformed, .empty, .plural: "make it \(value)"
        case .mismatched: "name the app whose container it is"
        }
    }
}
