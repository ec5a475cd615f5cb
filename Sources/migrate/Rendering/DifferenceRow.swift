import MigrationArchive
import MigrationCore

/// A difference as `migrate diff` shows it.
struct DifferenceRow: Row {
    let path: EntryPath
    let kind: ArchiveDifference.Kind
    let detail: String

    var line: String {
        let ending = detail.isEmpty ? "" : " (\(detail))"
        guard let aspect else {
            let side = kind == .onlyInArchive ? "archive" : "container"
            return "only in the \(side): \(path)\(ending)"
        }
        return "\(path): \(aspect) differ\(ending)"
    }

    /// What differs of an entry that both sides have.
    private var aspect: String? {
        switch kind {
        case .onlyInArchive, .onlyInContainer: nil
        case .kind: "kinds"
        case .content: "contents"
        case .permissions: "permissions"
        case .modificationTime: "modification times"
        case .linkTarget: "link targets"
        case .hardLink: "hard links"
        case .extendedAttributes: "extended attributes"
        }
    }
}

extension DifferenceRow {
    init(_ difference: ArchiveDifference) {
        self.init(path: difference.path, kind: difference.kind, detail: difference.detail)
    }

    private enum Key: String, CodingKey {
        case detail, kind, path, pathBase64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(path.description, forKey: .path)
        try container.encodeIfPresent(JSONText.base64(of: path.bytes), forKey: .pathBase64)
        try container.encode(kind, forKey: .kind)
        if !detail.isEmpty { try container.encode(detail, forKey: .detail) }
    }
}
