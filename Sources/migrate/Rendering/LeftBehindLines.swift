import MigrationArchive
import MigrationCore

/// What an extension did not append, in a bounded number of lines.
struct LeftBehindLines: Sendable {
    private let leftBehind: LeftBehind

    init(_ leftBehind: LeftBehind) {
        self.leftBehind = leftBehind
    }

    var text: String {
        // What a migration may need comes first, lest caches hide it.
        let items =
            leftBehind.items.filter { !$0.isPurgeable }
            + leftBehind.items.filter(\.isPurgeable)
        let shown = items.prefix(OmissionLines.limit)
        var text = shown.reduce("") { $0 + Self.line($1) }
        if leftBehind.count > shown.count {
            let rest = UnshownItems(
                count: leftBehind.count,
                shown: shown.count,
                listed: leftBehind.items.count,
                name: "more left behind"
            )
            text += "\(rest)\n"
        }
        return text
    }

    private static func line(_ item: LeftBehind.Item) -> String {
        let group = item.group.map { PrintableText.escaping($0) + ": " } ?? ""
        let size =
            item.files == 0
            ? "can't be opened"
            : "\(GroupedCount(item.files).of("file", "files")), \(ByteCount(item.bytes))"
        let remark = item.isPurgeable ? ", which no app needs" : ""
        return "left behind: \(group)\(item.path) (\(size)\(remark))\n"
    }
}
