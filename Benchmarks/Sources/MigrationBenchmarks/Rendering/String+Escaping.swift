extension String {
    /// The text escaped for a JSON string.
    var escapedForJSON: String {
        unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20:
                "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: String(scalar)
            }
        }
        .joined()
    }

    /// The text escaped for a cell of a Markdown table.
    var escapedForMarkdown: String {
        map { $0 == "|" ? "\\|" : String($0) }.joined()
    }

    /// The text escaped for XML.
    var escapedForXML: String {
        map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }
        .joined()
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
