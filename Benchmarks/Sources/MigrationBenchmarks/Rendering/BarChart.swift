/// Groups of horizontal bars beside a line at 1, as a self-contained SVG.
struct BarChart {
    /// How a bar looks; the names are those of the style sheet.
    enum Kind: String {
        case ours, baseline, rival, limit

        init(_ role: Peer.Role) {
            self =
                switch role {
                case .ours: .ours
                case .baseline: .baseline
                case .rival, .encrypting: .rival
                case .limit: .limit
                }
        }
    }

    struct Bar {
        let label: String
        let kind: Kind
        let length: Double
        let value: String
    }

    struct Group {
        let title: String
        let subtitle: String
        let bars: [Bar]
    }

    let title: String
    let subtitle: String
    let groups: [Group]

    var svg: String {
        var drawing = SVGDrawing(width: Layout.width)
        drawing.text(title, x: Layout.margin, y: 28, classes: "ink title")
        drawing.text(subtitle, x: Layout.margin, y: 48, classes: "soft")
        var y = Layout.top
        for group in groups {
            draw(group, at: &y, in: &drawing)
        }
        return drawing.finish(height: y)
    }
}

// MARK: - Drawing

extension BarChart {
    private enum Layout {
        static let width = 760.0
        static let margin = 20.0
        static let top = 68.0
        /// Where bars begin, right of their names.
        static let origin = 140.0
        static let barsWidth = 470.0
        static let row = 22.0
        static let bar = 14.0
        static let groupTitle = 26.0
        static let groupGap = 22.0
        /// A longer bar is cut, so that one slow program does not squeeze all the others.
        static let longest = 2.5
    }

    /// The value of the whole width.
    private var longest: Double {
        let lengths = groups.flatMap(\.bars).map(\.length)
        return min(max(lengths.max() ?? 1, 1.1), Layout.longest)
    }

    private func width(of length: Double) -> Double {
        max(1, min(length, longest) / longest * Layout.barsWidth)
    }

    private func draw(_ group: Group, at y: inout Double, in drawing: inout SVGDrawing) {
        drawing.text(group.title, x: Layout.margin, y: y + 14, classes: "ink group")
        drawing.text(group.subtitle, x: Layout.origin, y: y + 14, classes: "soft")
        y += Layout.groupTitle
        let top = y
        for bar in group.bars {
            draw(bar, at: y, in: &drawing)
            y += Layout.row
        }
        let one = Layout.origin + width(of: 1)
        drawing.line(x: one, from: top - 3, to: y - Layout.row + Layout.bar + 7, classes: "one")
        y += Layout.groupGap
    }

    private func draw(_ bar: Bar, at y: Double, in drawing: inout SVGDrawing) {
        let isCut = bar.length > longest
        let width = width(of: bar.length)
        let weight = bar.kind == .ours ? "ink strong" : "ink"
        drawing.text(
            bar.label,
            x: Layout.origin - 10,
            y: y + 11.5,
            classes: "\(weight) label"
        )
        drawing.bar(
            x: Layout.origin,
            y: y,
            width: width,
            height: Layout.bar,
            isCut: isCut,
            classes: bar.kind.rawValue
        )
        drawing.text(
            "\(bar.length.fixed(places: 2))",
            x: Layout.origin + width + 8,
            y: y + 11.5,
            classes: weight,
            trailing: bar.value
        )
    }
}
