/// Real text, from the documentation and the sources that this machine has, without an end.
struct TextSource {
    private static let suffixes = [
        ".txt", ".md", ".html", ".rst", ".pod", ".py", ".pm", ".js", ".json", ".h", "README",
        "copyright",
    ]

    /// Text that repeats after this distance looks new to every program.
    private static let enough = 64 << 20

    private var text: [UInt8] = []
    private var position = 0

    /// Reads about this many bytes of text; the text repeats after 64 MiB.
    init(limit: Int) throws(BenchmarkError) {
        collect(in: "/usr/share", limit: max(2 << 20, min(limit, Self.enough)))
        guard text.count >= 1 << 20 else {
            throw .unsuitable("there is hardly any text in /usr/share to make a workload of")
        }
    }

    /// The next `count` bytes, or fewer where they come round.
    mutating func next(_ count: Int) -> ArraySlice<UInt8> {
        if position == text.count {
            position = 0
        }
        let end = min(position + count, text.count)
        defer { position = end }
        return text[position..<end]
    }

    private mutating func collect(in directory: String, limit: Int) {
        for name in DirectoryListing.names(in: directory) where text.count < limit {
            let path = "\(directory)/\(name)"
            switch TextFile.kind(of: path) {
            case .directory:
                collect(in: path, limit: limit)
            case .file(let size) where size <= 1 << 20:
                if Self.suffixes.contains(where: name.hasSuffix) {
                    append(TextFile.readBytes(path, atMost: size))
                }
            case .file, .other:
                break
            }
        }
    }

    /// Appends the ASCII part, which every program takes for text.
    private mutating func append(_ bytes: [UInt8]) {
        text += bytes.filter { (0x20..<0x7f).contains($0) || $0 == 0x0a }
    }
}
