/// A single file of text with holes as large as what is between them.
struct SparseFileMaker: TreeMaker {
    private static let extent = 1 << 20

    let bytes: Int

    func make(at path: String) throws(BenchmarkError) {
        var text = try TextSource(limit: bytes)
        let file = try OutputFile("\(path)/disk.img")
        var rest = bytes
        while rest > 0 {
            let written = text.next(min(Self.extent, rest))
            try file.write(written)
            let hole = min(written.count, rest - written.count)
            try file.skip(hole)
            rest -= written.count + hole
        }
    }
}
