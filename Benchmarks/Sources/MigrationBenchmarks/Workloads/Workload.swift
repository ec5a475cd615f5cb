/// The trees that peers are measured on.
enum Workload: String, CaseIterable {
    case documents
    case photos
    case database
    case app
    case tiny
    case one

    /// The description for a person.
    var summary: String {
        switch self {
        case .documents: "a copy of /usr/share"
        case .photos: "incompressible files of 4 MiB"
        case .database: "one SQLite database of text, and its -wal"
        case .app: "photos 60 %, databases 25 %, small files 15 % of the bytes"
        case .tiny: "files of 0 to 400 bytes, 1,000 a directory"
        case .one: "a single file, half holes"
        }
    }

    /// The contents at full scale.
    var fullExtent: WorkloadExtent {
        switch self {
        case .documents: DocumentsMaker.extentOfSource
        case .photos: WorkloadExtent(bytes: 1 << 30, files: 256)
        case .database: WorkloadExtent(bytes: 400_000_000, files: 2)
        case .app: WorkloadExtent(bytes: 1_000_000_000, files: 30_000)
        case .tiny: WorkloadExtent(bytes: 200_000_000, files: 1_000_000)
        case .one: WorkloadExtent(bytes: 8 << 30, holes: 4 << 30, files: 1)
        }
    }

    /// What makes the tree with `scale` times the bytes and files.
    func maker(scale: Double) -> any TreeMaker {
        let extent = fullExtent.scaled(by: scale)
        return switch self {
        case .documents: DocumentsMaker(scale: scale)
        case .photos: PhotosMaker(bytes: extent.bytes)
        case .database: DatabaseMaker(bytes: extent.bytes)
        case .app: AppMaker(bytes: extent.bytes, smallFiles: extent.files)
        case .tiny: TinyMaker(files: extent.files)
        case .one: SparseFileMaker(bytes: extent.bytes)
        }
    }

    /// The programs without which it can't be made.
    var programs: [String] {
        switch self {
        case .database, .app: ["sqlite3"]
        case .documents, .photos, .tiny, .one: []
        }
    }
}
