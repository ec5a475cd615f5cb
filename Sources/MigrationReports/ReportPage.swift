internal import Foundation
internal import MigrationArchive
package import MigrationCore
internal import MigrationHosting
package import MigrationSystem

/// A self-contained HTML page about an archive, which works from a file and without a network.
package struct ReportPage {
    private let title: String
    /// Facts about the archive and its origin.
    private let facts: [(name: String, value: String)]
    /// The files that are moved, and those that are not; `nil` if the page shows only a session.
    private let tree: ReportTree?
    /// The container that the archive was compared with, printable.
    package var comparedWith: String?
    private var omissions = OmissionList()
    private var leftBehind: LeftBehind?
    private var findings: [ExtensionFinding] = []
    package var session: SessionLog?
    package var advice: Advice = { _ in nil }

    package init(title: String, facts: [(name: String, value: String)], tree: ReportTree?) {
        (self.title, self.facts, self.tree) = (title, facts, tree)
    }

    /// The largest files that the page lists.
    private static let fileLimit = 100
    private static let typeLimit = 40

    package func html() throws -> String {
        let root = tree?.nodes()
        let body = """
            \(factTable)
            \(findingTable)
            \(sessionChapter)
            \(tree.map { contentChapter($0, root: root) } ?? "")
            """
        return Self.document(title: title, body: body, data: try data(root))
    }

    /// A self-contained page that can't load other files; it has a script if it has `data`.
    static func document(title: String, body: String, data: String? = nil) -> String {
        // Without the ends of their last lines, so that the hashes are those of the elements.
        let style = String(decoding: PackageResources.style_css.dropLast(), as: UTF8.self)
        let script = String(decoding: PackageResources.script_js.dropLast(), as: UTF8.self)
        var policy =
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '\(source(style))'"
        var scripts = ""
        if let data {
            policy += "; script-src '\(source(script))'"
            scripts = """
                <script type="application/json" id="data">\(data)</script>
                <script>\(script)</script>

                """
        }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(escape(title))</title>
            <style>\(style)</style>
            <main>
            <h1>\(escape(title))</h1>
            \(body)
            </main>
            \(scripts)</html>

            """
    }

    /// The part about the files.
    private func contentChapter(_ tree: ReportTree, root: ReportNode?) -> String {
        """
        <h2 id="map-title">What it holds</h2>
        \(Self.search)
        <nav id="trail" aria-label="The directories above"></nav>
        <p id="where" role="status"></p>
        <div id="map" role="group" aria-labelledby="map-title"></div>
        <p id="legend"></p>
        <p>Select a directory to look into it; the names above the map and Escape lead back up. A path in a table
        leads to its place on the map, and a file on the map to its row.</p>
        \(differenceTable(tree))
        \(omissionTable)
        <h2>By type</h2>
        \(typeTable(tree))
        <h2>Largest files</h2>
        \(fileTable(tree))
        <details><summary>Directories as a table</summary>
        \(root.map(directoryTable) ?? "")
        </details>
        """
    }

    private struct PageData: Encodable {
        let session: SessionTimeline?
        let tree: ReportNode?
    }

    /// The data for the script, as JSON in an element that names can't end or comment out.
    private func data(_ root: ReportNode?) throws -> String {
        let json = JSONEncoder()
        json.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = PageData(session: session?.timeline, tree: root)
        return String(decoding: try json.encode(data), as: UTF8.self)
            .replacing("<", with: "\\u003c")
    }

    /// The source expression that allows exactly the script `text` (CSP Level 3, hash-source).
    private static func source(_ text: String) -> String {
        let digest = Data(SHA256Digest.hash(of: [UInt8](text.utf8)))
        return "sha256-\(digest.base64EncodedString())"
    }

    /// Text as an element contains it; characters that change the direction of text are shown as
    /// codes.
    static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;")
            .replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

// MARK: - Operations

extension ReportPage {
    /// Makes the page about the container at `path`, and what an export leaves out of it.
    package init(
        about container: MigrationDataContainer,
        at path: BytePath,
        includesCaches: Bool,
        by host: MigrationHost
    ) async throws {
        let tree = Monitor(ReportTree())
        let counts = Monitor((moved: ArchiveTotals(), omitted: ArchiveTotals()))
        try await host.list(container, includesCaches: includesCaches) { entry, reason in
            tree.withLock { $0.add(entry, state: reason == nil ? nil : .omitted) }
            counts.withLock { counts in
                if reason == nil { counts.moved.count(entry) } else { counts.omitted.count(entry) }
            }
        }
        let (moved, omitted) = counts.withLock { $0 }
        let name = PrintableText.escaping(path)
        let app = container.exportedIdentifier.map { PrintableText.escaping($0) } ?? "unknown"
        self.init(
            title: name,
            facts: [
                ("container", name), ("app", app),
                ("platform", PrintableText.escaping(container.platform.rawValue)),
                ("to export", "\(TotalsText(moved))"), ("left out", "\(TotalsText(omitted))"),
            ],
            tree: tree.withLock { $0 }
        )
    }

    /// Makes the page about an export of the container at `path`, whose entries `tree` has.
    package init(
        about report: ExportReport,
        of path: BytePath,
        to archive: ArchiveName,
        tree: ReportTree,
        session: SessionLog?
    ) {
        var tree = tree
        for omission in report.omissions.items where omission.bytes > 0 {
            tree.add(omission.pathBytes, bytes: omission.bytes, as: .omitted)
        }
        for item in report.leftBehind?.items ?? [] where item.group == nil && item.bytes > 0 {
            tree.add(item.pathBytes, bytes: item.bytes, as: .leftBehind)
        }
        let name = PrintableText.escaping(path)
        let answer = InspectionAnswer(archive, inspection: ArchiveInspection(report))
        self.init(
            title: "Export of \(name)",
            facts: [("container", name)]
                + answer.rows.map {
                    ($0.name, $0.name == "archive" ? archive.destinationText : $0.value)
                },
            tree: tree
        )
        omissions = report.omissions
        leftBehind = report.leftBehind
        findings = report.appExtension?.findings ?? []
        self.session = session
    }

    /// Makes the page about an import into the container at `path`, whose entries `tree` has.
    package init(
        about report: ImportReport,
        of archive: ArchiveName,
        into path: BytePath,
        tree: ReportTree,
        session: SessionLog?
    ) {
        let answer = InspectionAnswer(archive, inspection: ArchiveInspection(report))
        self.init(
            title: "Import of \(archive.sourceText)",
            facts: answer.rows + [("container", PrintableText.escaping(path))]
                + (report.replaced.map { [("replaced", "\(TotalsText($0.totals))")] } ?? [])
                + (report.keptContainer.map { [("kept", $0)] } ?? []),
            tree: tree
        )
        omissions = report.omissions
        findings = report.appExtension?.findings ?? []
        self.session = session
    }
}

extension ArchiveInspection {
    /// The archive that an export wrote.
    fileprivate init(_ report: ExportReport) {
        self.init(
            header: report.header,
            totals: report.totals,
            fingerprint: report.fingerprint,
            archiveBytes: report.archiveBytes,
            streamBytes: report.streamBytes,
            frameCount: nil,
            lacksEndMark: false,
            hasTrailer: false,
            isAndroidBackup: false
        )
    }

    /// The archive that an import read.
    fileprivate init(_ report: ImportReport) {
        self.init(
            header: report.header,
            totals: report.totals,
            fingerprint: report.fingerprint,
            archiveBytes: nil,
            streamBytes: nil,
            frameCount: nil,
            lacksEndMark: report.lacksEndMark,
            hasTrailer: report.hasTrailer,
            isAndroidBackup: report.isAndroidBackup
        )
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

    private var findingTable: String {
        guard !findings.isEmpty else { return "" }
        let rows = findings.map { finding in
            [finding.message, finding.fix].map { ReportCell(PrintableText.escapingRest(of: $0)) }
        }
        return "<h2>Mistakes in the extension</h2>\n"
            + Self.table(id: "findings", titles: ["mistake", "fix"], rows: rows)
    }

    private var sessionChapter: String {
        guard let session else { return "" }
        let text = SessionText(session)
        let name = Self.escape(PrintableText.escapingRest(of: session.timeline.name))
        let failure = session.error.map {
            "<p id=\"failure\">\(Self.escape(PrintableText.escapingRest(of: $0)))</p>"
        }
        return """
            <h2 id="session-title">The session with \(name)</h2>
            \(failure ?? "")
            <p id="session">\(Self.escape(text.summary))</p>
            <div id="timeline" role="img" aria-labelledby="session-title" aria-describedby="session"></div>
            <details><summary>The session as a table</summary>
            \(Self.table(id: "events", titles: ["at", "what", "for"], rows: text.events))
            \(Self.table(id: "limits", titles: ["limit of", "value"], rows: text.limits.map { $0.map { ReportCell($0) } }))
            </details>
            """
    }

    /// The table of the files that are not moved.
    private var omissionTable: String {
        var parts: [String] = []
        if omissions.count > 0 {
            let rows = omissions.items.map { item in
                [ReportCell(path: item.path), ReportCell(item.remark(advice))]
            }
            parts.append(
                "<h2>Left out</h2>\n"
                    + Self.table(id: "omissions", titles: ["path", "why"], rows: rows)
            )
            parts.append(Self.rest(omissions.count - rows.count))
        }
        if let leftBehind, leftBehind.count > 0 {
            let rows = leftBehind.items.map { item in
                let group = item.group.map { PrintableText.escaping($0) + ": " } ?? ""
                let path =
                    item.group == nil ? ReportCell(path: item.path) : ReportCell(group + item.path)
                return [path, ReportCell(bytes: item.bytes)]
            }
            let table = Self.table(id: "left-behind", titles: ["path", "size"], rows: rows)
            parts.append("<h2>Left behind by the extension</h2>\n" + table)
            parts.append(Self.rest(leftBehind.count - rows.count))
        }
        return parts.joined(separator: "\n")
    }

    /// A line about rows that are not shown.
    private static func rest(_ count: Int) -> String {
        count > 0 ? "<p>and \(GroupedCount(UInt64(count))) more</p>" : ""
    }

    private func typeTable(_ tree: ReportTree) -> String {
        let rows = tree.amountsByType.prefix(Self.typeLimit).map { type, amount in
            [ReportCell(type), ReportCell(count: amount.files), ReportCell(bytes: amount.bytes)]
        }
        return Self.table(id: "types", titles: ["type", "files", "size"], rows: rows)
    }

    private func fileTable(_ tree: ReportTree) -> String {
        let rows = tree.largestFiles.prefix(Self.fileLimit).map { path, bytes in
            [ReportCell(path: path.description), ReportCell(bytes: bytes)]
        }
        return Self.table(id: "files", titles: ["file", "size"], rows: rows)
    }

    private func differenceTable(_ tree: ReportTree) -> String {
        guard let comparedWith else { return "" }
        let title = "<h2>Differences from \(Self.escape(comparedWith))</h2>"
        guard tree.differenceCount > 0 else { return "\(title)\n<p id=\"same\">None.</p>" }
        let rows = tree.differences.map { [ReportCell($0.text, path: $0.path.description)] }
        let more = Self.rest(tree.differenceCount - rows.count)
        return title + "\n" + Self.table(id: "differences", titles: ["difference"], rows: rows)
            + "\n" + more
    }

    private func directoryTable(_ root: ReportNode) -> String {
        var rows: [[ReportCell]] = []
        func visit(_ node: ReportNode, at path: String) {
            guard node.type == .directory else { return }
            let name = path.isEmpty ? ReportCell("/") : ReportCell(path: BoundedText.detail(path))
            rows.append([name, ReportCell(count: node.files), ReportCell(bytes: node.bytes)])
            for child in node.children {
                visit(child, at: path.isEmpty ? child.name : "\(path)/\(child.name)")
            }
        }
        visit(root, at: "")
        return Self.table(id: "directories", titles: ["directory", "files", "size"], rows: rows)
    }

    /// A field that looks for names in the tables, and on the map.
    static let search = """
        <p><label>Find <input id="search" type="search" autocomplete="off"></label></p>
        """

    static func table(id: String, titles: [String], rows: [[ReportCell]]) -> String {
        let head = titles.enumerated().map { index, title in
            let isOfNumbers = rows.first?[index].number != nil
            return "<th scope=\"col\"\(isOfNumbers ? " class=\"number\"" : "")>\(title)</th>"
        }
        let body = rows.map { "<tr>" + $0.map(\.html).joined() + "</tr>" }
        return """
            <table id="\(id)"><thead><tr>\(head.joined())</tr></thead><tbody>
            \(body.joined(separator: "\n"))
            </tbody></table>
            """
    }
}

/// A cell of a table on a page.
struct ReportCell {
    let text: String

    /// The number that the text shows, by which rows are sorted.
    let number: Double?

    /// The path in the tree that the cell links to on the map.
    let path: String?

    init(_ text: String, number: Double? = nil, path: String? = nil) {
        (self.text, self.number, self.path) = (text, number, path)
    }

    init(path: String) { self.init(path, path: path) }

    init(bytes: UInt64) { self.init("\(ByteCount(bytes))", number: Double(bytes)) }

    init(count: some BinaryInteger) { self.init("\(GroupedCount(count))", number: Double(count)) }

    var html: String {
        let words = ReportPage.escape(text)
        if let number {
            return "<td class=\"number\" data-number=\"\(number)\">\(words)</td>"
        }
        guard let path else { return "<td>\(words)</td>" }
        return
            "<td><a href=\"#map-title\" data-path=\"\(ReportPage.escape(path))\">\(words)</a></td>"
    }
}
