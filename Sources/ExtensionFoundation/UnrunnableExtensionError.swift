/// The error for an extension whose configuration this system can't run.
struct UnrunnableExtensionError: Error, CustomStringConvertible {
    let name: String

    var description: String {
        "\(name) can't be run: its configuration is of no kind that this system runs"
    }
}
