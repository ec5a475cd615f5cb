internal import Foundation
internal import MigrationArchive
internal import MigrationCore

/// A self-contained HTML page about an archive, which works from a file and asks no network.
struct ReportPage {
    let title: String
    /// What the archive is, and where it comes from.
    let facts: [(name: String, value: String)]
    let tree: ReportTree
    /// The container that the archive was compared with, printable.
    let comparedWith: String?

    /// The largest files that the page lists.
    private static let fileLimit = 100
    private static let typeLimit = 40

    func html() throws -> String {
        let root = tree.nodes()
        let json = JSONEncoder()
        json.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Nothing in a name may end the element, or start a comment in it.
        let data = String(decoding: try json.encode(root), as: UTF8.self)
            .replacing("<", with: "\\u003c")
        let script = ReportPageParts.script
        let style = ReportPageParts.style
        let policy =
            "default-src 'none'; base-uri 'none'; form-action 'none'; "
            + "style-src '\(Self.source(style))'; script-src '\(Self.source(script))'"
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escape(title))</title>
            <style>\(style)</style>
            <main>
            <h1>\(Self.escape(title))</h1>
            \(factTable)
            <h2 id="map-title">What it holds</h2>
            <p id="where" role="status"></p>
            <div id="map" role="group" aria-labelledby="map-title"></div>
            <p id="legend"></p>
            <p>Select a directory to look into it; Escape goes back up.</p>
            \(differenceTable)
            <h2>By type</h2>
            \(typeTable)
            <h2>Largest files</h2>
            \(fileTable)
            <details><summary>Directories as a table</summary>
            \(directoryTable(root))
            </details>
            </main>
            <script type="application/json" id="data">\(data)</script>
            <script>\(script)</script>
            </html>

            """
    }

    /// The source expression that lets exactly `text` run (CSP Level 3, hash-source).
    private static func source(_ text: String) -> String {
        let digest = Data(SHA256Digest.hash(of: [UInt8](text.utf8)))
        return "sha256-\(digest.base64EncodedString())"
    }

    /// Text as it stands in an element, with what changes the direction of text shown as a code.
    private static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;")
            .replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

// MARK: - Tables

extension ReportPage {
    private var factTable: String {
        let rows = facts.map { fact in
            "<tr><th scope=\"row\">\(Self.escape(fact.name))</th><td>\(Self.escape(fact.value))</td></tr>"
        }
        return "<table id=\"facts\">\n\(rows.joined(separator: "\n"))\n</table>"
    }

    private var typeTable: String {
        let rows = tree.amountsByType.prefix(Self.typeLimit).map { type, amount in
            [type, "\(GroupedCount(amount.files))", "\(ByteCount(amount.bytes))"]
        }
        return Self.table(id: "types", titles: ["type", "files", "size"], rows: rows)
    }

    private var fileTable: String {
        let rows = tree.largestFiles.prefix(Self.fileLimit).map { path, bytes in
            [path.description, "\(ByteCount(bytes))"]
        }
        return Self.table(id: "files", titles: ["file", "size"], rows: rows)
    }

    private var differenceTable: String {
        guard let comparedWith else { return "" }
        let title = "<h2>Differences from \(Self.escape(comparedWith))</h2>"
        guard tree.differenceCount > 0 else { return "\(title)\n<p id=\"same\">None.</p>" }
        let rows = tree.differences.map { [$0.text] }
        let rest = tree.differenceCount - rows.count
        let more = rest > 0 ? "\n<p>and \(GroupedCount(UInt64(rest))) more</p>" : ""
        return title + "\n" + Self.table(id: "differences", titles: ["difference"], rows: rows)
            + more
    }

    private func directoryTable(_ root: ReportNode) -> String {
        var rows: [[String]] = []
        func visit(_ node: ReportNode, at path: String) {
            guard node.type == .directory else { return }
            let amounts = ["\(GroupedCount(node.files))", "\(ByteCount(node.bytes))"]
            rows.append([path.isEmpty ? "/" : path] + amounts)
            for child in node.children {
                visit(child, at: path.isEmpty ? child.name : "\(path)/\(child.name)")
            }
        }
        visit(root, at: "")
        return Self.table(id: "directories", titles: ["directory", "files", "size"], rows: rows)
    }

    private static func table(id: String, titles: [String], rows: [[String]]) -> String {
        let head = titles.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let body = rows.map { row in
            "<tr>" + row.map { "<td>\(escape($0))</td>" }.joined() + "</tr>"
        }
        return """
            <table id="\(id)"><thead><tr>\(head)</tr></thead><tbody>
            \(body.joined(separator: "\n"))
            </tbody></table>
            """
    }
}
