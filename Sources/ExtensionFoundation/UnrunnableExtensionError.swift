/// The error for an extension whose configuration nothing on this system can run.
struct UnrunnableExtensionError: Error, CustomStringConvertible {
    let name: String

    var description: String {
        "\(name) can't be run: its configuration is of no kind that this system runs"
    }
}
