/// A tree that is measured.
struct Subject {
    let name: String
    let summary: String
    let tree: String
}
