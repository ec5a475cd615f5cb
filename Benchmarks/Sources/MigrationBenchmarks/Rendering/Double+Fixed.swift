extension Double {
    /// The number with this many digits after the point.
    func fixed(places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((self * Double(scale)).rounded())
        guard places > 0 else { return "\(scaled)" }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction)"
    }

    /// A number of seconds with its unit.
    var seconds: String { "\(fixed(places: self < 100 ? 2 : 0)) s" }

    /// A number of bytes in megabytes.
    var megabytes: String { "\((self / 1e6).fixed(places: self < 1e9 ? 1 : 0)) MB" }
}
