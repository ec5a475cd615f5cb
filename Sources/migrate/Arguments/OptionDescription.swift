/// An option: a name, and a value if it takes one.
struct OptionDescription: Sendable {
    let name: String
    let help: String
    var valueName: String?
    var isRequired = false
    var isRepeatable = false
    var completion = ValueCompletion.none

    /// The option without which this one means nothing.
    var companion: String?

    /// The option that this one can't be given with.
    var rival: String?

    /// The option as it is typed, with a word for its value.
    var label: String {
        valueName.map { "--\(name) <\($0)>" } ?? "--\(name)"
    }

    /// How the option stands in a synopsis.
    var synopsis: String {
        (isRequired ? label : "[\(label)]") + (isRepeatable ? "..." : "")
    }
}
