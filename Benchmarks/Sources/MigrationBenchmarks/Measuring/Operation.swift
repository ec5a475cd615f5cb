/// The operations of every contestant on a tree, in this order.
enum Operation: String, CaseIterable {
    case export
    case restore = "import"
    /// Reads the archive to its end and checks it, which not every program can do.
    case verify
}
