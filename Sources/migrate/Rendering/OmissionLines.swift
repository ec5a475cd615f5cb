import MigrationCore

/// What was left out, in a bounded number of lines.
struct OmissionLines: Sendable {
    /// How many things are named before the rest is only counted.
    static let limit = 10

    /// The words before each thing, such as `left out`.
    let title: String

    let omissions: OmissionList

    var text: String {
        let shown = omissions.items.prefix(Self.limit)
        var text = shown.reduce("") { $0 + "\(title): \($1.path) (\(Self.remark(on: $1)))\n" }
        if omissions.count > shown.count {
            let rest = UnshownItems(
                count: omissions.count,
                shown: shown.count,
                listed: omissions.items.count,
                name: "more"
            )
            text += "\(rest)\n"
        }
        return text
    }

    private static func remark(on omission: Omission) -> String {
        let reason = reason(omission.reason) + (omission.detail.map { " \($0)" } ?? "")
        return hasContent(omission.reason) ? "\(ByteCount(omission.bytes)), \(reason)" : reason
    }

    private static func hasContent(_ reason: Omission.Reason) -> Bool {
        switch reason {
        case .leftOutByDefault, .excluded, .unreadableToOwner: true
        default: false
        }
    }

    private static func reason(_ reason: Omission.Reason) -> String {
        switch reason {
        case .leftOutByDefault: "by default"
        case .excluded: "excluded"
        case .specialFile: "special file"
        case .extendedAttribute: "extended attribute"
        case .specialPermissions: "special permissions"
        case .externalLink: "link that leads out"
        case .unreadableToOwner: "unreadable to the container's owner"
        case .applicationGroup: "app group, on request"
        }
    }
}
