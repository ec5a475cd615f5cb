/// An SVG under construction, with a style sheet that suits light pages and dark ones.
struct SVGDrawing {
    private let width: Double
    private var elements: [String] = []

    init(width: Double) {
        self.width = width
    }

    /// Writes a line of text, and after it a softer one.
    mutating func text(
        _ text: String,
        x: Double,
        y: Double,
        classes: String,
        trailing: String = ""
    ) {
        let tail =
            trailing.isEmpty
            ? "" : #"<tspan class="soft" dx="7">\#(trailing.escapedForXML)</tspan>"#
        elements.append(
            #"<text x="\#(number(x))" y="\#(number(y))" class="\#(classes)">"#
                + "\(text.escapedForXML)\(tail)</text>"
        )
    }

    mutating func line(x: Double, from top: Double, to bottom: Double, classes: String) {
        elements.append(
            #"<path d="M\#(number(x)) \#(number(top))V\#(number(bottom))" class="\#(classes)"/>"#
        )
    }

    /// Draws a bar with round corners, or with an arrow at the end if it is cut.
    mutating func bar(
        x: Double,
        y: Double,
        width: Double,
        height: Double,
        isCut: Bool,
        classes: String
    ) {
        guard isCut else {
            elements.append(
                #"<rect x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" "#
                    + #"height="\#(number(height))" rx="2" class="\#(classes)"/>"#
            )
            return
        }
        let point = height / 2
        elements.append(
            "<path d=\"M\(number(x)) \(number(y))h\(number(width - point))"
                + "l\(number(point)) \(number(point))l\(number(-point)) \(number(point))"
                + "h\(number(point - width))z\" class=\"\(classes)\"/>"
        )
    }

    /// The whole document.
    func finish(height: Double) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
        width="\(number(width))" height="\(number(height))" role="img">
        <style>
        \(Self.style)
        </style>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private static let style = """
        text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
        .title { font-size: 17px; font-weight: 600 }
        .group { font-size: 13px; font-weight: 600 }
        .strong { font-weight: 600 }
        .label { text-anchor: end }
        .ink { fill: #1f2328 }
        .soft { fill: #656d76 }
        .ours { fill: #0969da }
        .baseline { fill: #818b98 }
        .rival { fill: #c4ccd4 }
        .limit { fill: none; stroke: #a3acb6; stroke-dasharray: 3 2 }
        .one { fill: none; stroke: #818b98; stroke-dasharray: 2 3 }
        @media (prefers-color-scheme: dark) {
        .ink { fill: #e6edf3 }
        .soft { fill: #9198a1 }
        .ours { fill: #4493f8 }
        .baseline { fill: #8b949e }
        .rival { fill: #484f58 }
        .limit { stroke: #6e7681 }
        }
        """

    private func number(_ value: Double) -> String {
        let text = abs(value).fixed(places: 1)
        return (value < 0 ? "-" : "") + (text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}
