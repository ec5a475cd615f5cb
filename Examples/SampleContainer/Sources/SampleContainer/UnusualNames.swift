/// Names that a careless copy changes, folds together or loses.
struct UnusualNames {
    private static let folder: EntryPath = "Documents/Names"

    private static let names: [EntryPath] = [
        "Σημειώσεις για το ταξίδι.txt",
        "買い物リスト.txt",
        "قائمة المهام.txt",
        "👩‍👩‍👧 🌍 ideas.txt",
        // The same word twice: composed, and with a combining accent.
        "caf\u{e9}.txt",
        "cafe\u{301}.txt",
        "README",
        "Readme",
        " starts and ends with a space ",
        "-rf",
        "two\nlines.txt",
        "back\\slash and \"quotes\".txt",
        "...",
    ]

    private static let notUTF8 = EntryPath(bytes: Array("caf".utf8) + [0xe9] + Array(".txt".utf8))

    func write(to container: inout ContainerWriter) throws {
        let longest = [
            EntryPath(String(repeating: "n", count: 251) + ".txt"),
            EntryPath(String(repeating: "ω", count: 125) + ".text"),
        ]
        for name in Self.names + [Self.notUTF8] + longest {
            try container.addFile(Self.folder / name, Array("This is ".utf8) + name.bytes)
        }
        try addDeepFile(to: &container)
    }

    /// Adds a file below 30 directories, at a path of more than 1,000 bytes.
    private func addDeepFile(to container: inout ContainerWriter) throws {
        var path: EntryPath = "Documents/Outline"
        for level in 1...30 {
            path = path / "section \(level) of the outline of the long novel"
        }
        try container.addFile(path / "last words.txt", Array("The end.\n".utf8))
    }
}
