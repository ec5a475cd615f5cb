/// An SQLite database of messages that are real text, with its last changes still in its `-wal`.
struct DatabaseMaker: TreeMaker {
    /// The bytes of the file for each byte of text.
    private static let growth = 1.14
    private static let rowsInTransaction = 5000

    let bytes: Int
    var name = "messages.sqlite"

    func make(at path: String) throws(BenchmarkError) {
        let program = try ShellPipe(
            #"exec sqlite3 "$SUBJECT" >/dev/null"#,
            named: "sqlite3",
            subject: "\(path)/\(name)"
        )
        var text = try TextSource(limit: bytes)
        var rows = MessageRows()
        let textSize = Int(Double(bytes) / Self.growth)
        program.write(Array(Self.opening.utf8))
        insert(textSize / 100 * 96, of: &text, as: &rows, into: program)
        program.write(Array(Self.turningToLog.utf8))
        insert(textSize / 100 * 4, of: &text, as: &rows, into: program)
        try program.finish()
    }

    private static let opening = """
        PRAGMA journal_mode=off;
        PRAGMA synchronous=off;
        CREATE TABLE message(id INTEGER PRIMARY KEY, sender TEXT, sent REAL, body TEXT);
        CREATE INDEX message_sent ON message(sender, sent);

        """

    private static let turningToLog = """
        PRAGMA journal_mode=wal;
        PRAGMA wal_autocheckpoint=0;
        .dbconfig no_ckpt_on_close on

        """

    private func insert(
        _ size: Int,
        of text: inout TextSource,
        as rows: inout MessageRows,
        into program: borrowing ShellPipe
    ) {
        var rest = size
        while rest > 0 {
            var statements = Array("BEGIN;\n".utf8)
            for _ in 0..<Self.rowsInTransaction where rest > 0 {
                rest -= rows.append(from: &text, to: &statements)
            }
            statements += "COMMIT;\n".utf8
            program.write(statements)
        }
    }
}
