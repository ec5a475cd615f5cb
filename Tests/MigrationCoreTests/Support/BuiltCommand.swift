import Foundation

/// The `migrate` that was built beside the tests.
enum BuiltCommand {
    static let url = Bundle.main.bundleURL.appending(path: "migrate")
}
