/// The size of a workload.
struct WorkloadExtent {
    /// The lengths of all files.
    let bytes: Int
    /// The part of `bytes` that takes no space.
    var holes = 0
    let files: Int

    /// The space for the tree together with one archive and one copy of it.
    ///
    /// Not all programs keep holes, `cp` makes a copy for an archive, and each file wastes a part of
    /// a page and has an inode.
    var room: Int {
        let overhead = files * 4096
        return (bytes - holes + overhead) + 2 * (bytes + overhead)
    }

    func scaled(by scale: Double) -> WorkloadExtent {
        WorkloadExtent(
            bytes: Int(Double(bytes) * scale),
            holes: Int(Double(holes) * scale),
            files: max(1, Int(Double(files) * scale))
        )
    }
}
