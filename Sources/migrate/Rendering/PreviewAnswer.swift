import AndroidMigration
import MigrationArchive

/// What `migrate android preview` answers.
struct PreviewAnswer: Answer {
    private struct Included: Encodable {
        let domain: StorageDomain
        let path: String
        let iosPath: String
        let bytes: UInt64
        let rule: Int?

        enum Key: String, CodingKey {
            case domain, path, iosPath, bytes, rule
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(domain, forKey: .domain)
            try container.encode(path, forKey: .path)
            try container.encode(iosPath, forKey: .iosPath)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(rule, forKey: .rule)
        }
    }

    private struct Excluded: Encodable {
        let domain: StorageDomain
        let path: String
        let bytes: UInt64
        let rule: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Included.Key.self)
            try container.encode(domain, forKey: .domain)
            try container.encode(path, forKey: .path)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(rule, forKey: .rule)
        }
    }

    private enum Key: String, CodingKey {
        case schema, section, eligible, reasons, included, excluded
    }

    private let preview: Preview

    init(_ preview: Preview) {
        self.preview = preview
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("migrate/android-preview/1", forKey: .schema)
        try container.encode(preview.section, forKey: .section)
        try container.encode(preview.isEligible, forKey: .eligible)
        try container.encode(preview.reasons, forKey: .reasons)
        let included = preview.included.map {
            Included(
                domain: $0.domain,
                path: $0.path.description,
                iosPath: $0.iosPath.description,
                bytes: $0.bytes,
                rule: $0.rule
            )
        }
        try container.encode(included, forKey: .included)
        let excluded = preview.excluded.map {
            Excluded(domain: $0.domain, path: $0.path.description, bytes: $0.bytes, rule: $0.rule)
        }
        try container.encode(excluded, forKey: .excluded)
    }

    var text: String {
        var text =
            "section   \(preview.section.rawValue)\n"
            + "eligible  \(preview.isEligible ? "yes" : "no")\n"
        for reason in preview.reasons {
            text += "          \(PrintableText.escapingRest(of: reason))\n"
        }
        text += Self.section("included", preview.included) { "\($0.iosPath)" }
        return text
            + Self.section("excluded", preview.excluded) { item in
                "\(item.domain.rawValue) \(item.path.bytes.isEmpty ? "." : item.path.description)"
            }
    }

    private static func section(
        _ title: String,
        _ items: [Preview.Item],
        _ name: (Preview.Item) -> String
    ) -> String {
        let bytes = items.reduce(UInt64(0)) { $0 + $1.bytes }
        let rows = items.map { item in
            let size = "\(ByteCount(item.bytes))"
            let padding = String(repeating: " ", count: max(10 - size.count, 1))
            let rule = item.rule.map { "line \($0)" } ?? "-"
            let margin = String(repeating: " ", count: max(9 - rule.count, 1))
            return
                "\(padding)\(size)  \(rule)\(margin)\(name(item))\(item.isDirectory ? "/" : "")\n"
        }
        return "\(title): \(ByteCount(bytes))\n" + rows.joined()
    }
}
