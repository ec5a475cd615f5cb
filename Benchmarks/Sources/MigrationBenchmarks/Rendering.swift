extension Pair {
    func map<Result>(_ transform: (Value) -> Result) -> Pair<Result> {
        Pair<Result>(ours: transform(ours), theirs: transform(theirs))
    }
}

extension Double {
    /// The number with so many digits after the point.
    func fixed(places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((self * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction)"
    }
}

extension String {
    /// The text as it stands between the quotes of a JSON string.
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
}
