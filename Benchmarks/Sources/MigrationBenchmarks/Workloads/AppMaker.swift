/// The contents of a real container, in the places where apps keep them.
struct AppMaker: TreeMaker {
    let bytes: Int
    let smallFiles: Int

    func make(at path: String) throws(BenchmarkError) {
        try PhotosMaker(bytes: bytes / 100 * 60, seed: 3).make(at: "\(path)/Documents/Photos")
        let support = "\(path)/Library/Application Support"
        try OutputFile.makeDirectory(support)
        try DatabaseMaker(bytes: bytes / 100 * 20, name: "messages.sqlite").make(at: support)
        try DatabaseMaker(bytes: bytes / 100 * 5, name: "index.sqlite").make(at: support)
        try makeNotes(at: "\(path)/Documents/Notes")
    }

    /// Small files of text, a hundred in each directory.
    private func makeNotes(at path: String) throws(BenchmarkError) {
        let meanSize = bytes / 100 * 15 / smallFiles
        var text = try TextSource(limit: bytes / 100 * 15)
        var generator = SplitMix64(seed: 4)
        for number in 0..<smallFiles {
            let directory = "\(path)/\(number / 100)"
            if number % 100 == 0 {
                try OutputFile.makeDirectory(directory)
            }
            let content = text.next(.random(in: 0...2 * meanSize, using: &generator))
            try OutputFile.write(content, to: "\(directory)/note-\(number).md")
        }
    }
}
