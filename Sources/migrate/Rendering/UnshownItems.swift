/// The end of a list that is shown in part: how many things it leaves out, and where they are listed.
struct UnshownItems: CustomStringConvertible {
    /// How many things there are.
    let count: Int

    /// How many of them are shown.
    let shown: Int

    /// How many of them an answer in JSON lists.
    let listed: Int

    /// What the things are, behind their number.
    let name: String

    var description: String {
        let list = listed < count ? "the first \(GroupedCount(listed))" : "them"
        return "… and \(GroupedCount(count - shown)) \(name) (--json lists \(list))"
    }
}
