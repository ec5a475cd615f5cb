/// A copy of `/usr/share`: tens of thousands of files as programs install them.
struct DocumentsMaker: TreeMaker {
    private static let source = "/usr/share"

    let scale: Double

    static var extentOfSource: WorkloadExtent {
        var (bytes, files) = (0, 0)
        var pending = [source]
        while let directory = pending.popLast() {
            for name in DirectoryListing.names(in: directory) {
                let path = "\(directory)/\(name)"
                files += 1
                switch TextFile.kind(of: path) {
                case .directory: pending.append(path)
                case .file(let size): bytes += size
                case .other: break
                }
            }
        }
        return WorkloadExtent(bytes: bytes, files: files)
    }

    func make(at path: String) throws(BenchmarkError) {
        let script = scale >= 1 ? #"cp -a \#(Self.source)/. "$SUBJECT""# : scriptOfPart
        try ShellPipe(script, named: "the copy of \(Self.source)", subject: path).finish()
    }

    /// Takes files from everywhere, at even distances.
    private var scriptOfPart: String {
        #"""
        cd \#(Self.source) && find . ! -type d ! -name '*
        *' | LC_ALL=C sort | awk '{ sum += \#(scale) } sum >= 1 { sum -= 1; print }' |
            tar -cf - --verbatim-files-from -T - | tar -xf - -C "$SUBJECT"
        """#
    }
}
