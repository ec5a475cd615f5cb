/// A program or a pipeline that packs a tree into an archive and unpacks it.
struct Peer: Sendable {
    /// How a peer counts in the comparison.
    enum Role: Sendable {
        /// The program that is measured.
        case ours
        /// The baseline of all ratios.
        case baseline
        case rival
        /// Also encrypts its archive.
        case encrypting
        /// Does less than an archiver must, and shows the most that the machine can do.
        case limit
    }

    typealias Command = @Sendable (PeerGround) -> [String]

    /// The word for it on the command line.
    let key: String
    let name: String
    var role = Role.rival
    /// The programs that must be installed.
    let programs: [String]
    /// The suffix of its archive's name.
    var suffix = ""
    /// Whether it compresses with zstd at a given level.
    var usesLevel = false
    /// Commands that are not measured, before each export.
    var preparation: @Sendable (PeerGround) -> [[String]] = { _ in [] }
    let export: Command
    let restore: Command
    /// The command that checks the archive, if the program has one that only reads.
    var verification: @Sendable (PeerGround) -> [String]? = { _ in nil }

    /// Whether no comparison is possible without it.
    var isEssential: Bool { role == .ours || role == .baseline }
}
