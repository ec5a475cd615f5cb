/// The error of an extension whose configuration nothing on this system knows how to run.
struct UnrunnableExtensionError: Error, CustomStringConvertible {
    let name: String

    var description: String {
        "\(name) can't be run: its configuration is of no kind that this system runs"
    }
}
