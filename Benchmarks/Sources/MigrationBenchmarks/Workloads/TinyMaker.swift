/// Files that are smaller than their metadata.
struct TinyMaker: TreeMaker {
    private static let filesInDirectory = 1000

    let files: Int

    func make(at path: String) throws(BenchmarkError) {
        var text = try TextSource(limit: files * 200)
        var generator = SplitMix64(seed: 2)
        for first in stride(from: 0, to: files, by: Self.filesInDirectory) {
            let directory = "\(path)/\(first / Self.filesInDirectory)"
            try OutputFile.makeDirectory(directory)
            for number in first..<min(first + Self.filesInDirectory, files) {
                let content = text.next(.random(in: 0...400, using: &generator))
                try OutputFile.write(content, to: "\(directory)/\(number)")
            }
        }
    }
}
