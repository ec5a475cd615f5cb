/// One line of a long answer: text, or an element of a JSON array.
protocol Row: Encodable {
    /// The row for a person, without the end of the line.
    var line: String { get }
}
