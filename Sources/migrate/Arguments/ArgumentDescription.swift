/// A word that a command takes besides options.
struct ArgumentDescription: Sendable {
    /// How many words an argument stands for.
    enum Count: Sendable {
        /// Exactly one.
        case one
        /// None or more.
        case any
        /// All after `--`, at least one.
        case commandLine
    }

    let name: String
    let help: String
    var count = Count.one
    var completion = ValueCompletion.none

    /// How the argument stands in a synopsis.
    var synopsis: String {
        switch count {
        case .one: "<\(name)>"
        case .any: "[<\(name)>...]"
        case .commandLine: "-- <\(name)>..."
        }
    }
}
