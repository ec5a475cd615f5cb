internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// A list whose first items are shown.
package enum Listing {
    /// The lines of the first ten items, and a line that counts the others.
    ///
    /// - Parameters:
    ///   - items: The items that the JSON answer lists.
    ///   - count: The number of all items, which may be greater.
    ///   - others: The words after the number of items without a line.
    ///   - wording: How the program says how to read all of them.
    ///   - line: The line of an item.
    /// - Returns: The lines, without line feeds.
    package static func lines<Item>(
        of items: [Item],
        count: Int,
        others: String,
        _ wording: Wording,
        line: (Item) -> String
    ) -> [String] {
        let shown = items.prefix(10).map(line)
        guard count > shown.count else { return shown }
        let listed = items.count < count ? "the first \(GroupedCount(items.count))" : "them"
        let way = "\(wording.step(.listAll)) \(listed)"
        let rest = "\(GroupedCount(count - shown.count)) \(others) (\(way))"
        return shown + ["… and \(rest)"]
    }

    /// The same lines as text, each with its end.
    static func text<Item>(
        of items: [Item],
        count: Int,
        others: String = "more",
        _ wording: Wording,
        line: (Item) -> String
    ) -> String {
        lines(of: items, count: count, others: others, wording, line: line).map { "\($0)\n" }
            .joined()
    }
}

/// The omissions of an export or an import, in a bounded number of lines.
struct OmissionLines: Sendable {
    /// The words before each item, such as `left out`.
    let title: String

    let omissions: OmissionList
    let wording: Wording

    var text: String {
        Listing.text(of: omissions.items, count: omissions.count, wording) { omission in
            "\(title): \(omission.path) (\(omission.remark(wording.advice)))"
        }
    }
}

/// The files that an extension did not append, in a bounded number of lines.
struct LeftBehindLines: Sendable {
    let leftBehind: LeftBehind
    let wording: Wording

    var text: String {
        // Data that the app may need comes before caches.
        let items =
            leftBehind.items.filter { !$0.isPurgeable }
            + leftBehind.items.filter(\.isPurgeable)
        return Listing.text(
            of: items,
            count: leftBehind.count,
            others: "more left behind",
            wording,
            line: Self.line
        )
    }

    private static func line(_ item: LeftBehind.Item) -> String {
        let group = item.group.map { PrintableText.escaping($0) + ": " } ?? ""
        let size =
            item.files == 0
            ? "can't be opened"
            : "\(GroupedCount(item.files).of("file", "files")), \(ByteCount(item.bytes))"
        let remark = item.isPurgeable ? ", can be recreated" : ""
        return "left behind: \(group)\(item.path) (\(size)\(remark))"
    }
}
