/// Files that are compressed already, as a camera writes them.
struct PhotosMaker: TreeMaker {
    private static let fileSize = 4 << 20

    let bytes: Int
    var seed: UInt64 = 1

    func make(at path: String) throws(BenchmarkError) {
        try OutputFile.makeDirectory(path)
        var generator = SplitMix64(seed: seed)
        var content = [UInt8](repeating: 0, count: Self.fileSize)
        for (number, offset) in stride(from: 0, to: bytes, by: Self.fileSize).enumerated() {
            generator.fill(&content)
            let count = min(Self.fileSize, bytes - offset)
            try OutputFile.write(content[..<count], to: "\(path)/IMG_\(number).heic")
        }
    }
}
