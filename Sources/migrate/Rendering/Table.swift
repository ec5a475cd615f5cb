/// Names and values in two columns.
struct Table: Sendable {
    let rows: [(name: String, value: String)]

    var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.reduce("") { text, row in
            text + row.name + String(repeating: " ", count: width - row.name.count + 2) + row.value
                + "\n"
        }
    }
}
