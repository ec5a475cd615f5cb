package import Foundation

/// The `migrate` that tests of the command run.
///
/// `make test` names the installed one by `MIGRATE`. Without the variable it is the one that was
/// built beside the tests; a message says so once.
package enum TestedProgram {
    /// The program that was built beside the tests, which is linked to Swift's libraries.
    package static let besideTests = Bundle.main.bundleURL.appending(path: "migrate")

    package static let url: URL = {
        guard let path = ProcessInfo.processInfo.environment["MIGRATE"], !path.isEmpty else {
            say("tests run \(besideTests.path), not the installed program; MIGRATE names another")
            return besideTests
        }
        guard FileManager.default.isExecutableFile(atPath: path) else {
            say("MIGRATE names '\(path)', which can't be run; name a built migrate, or unset it")
            exit(EX_NOINPUT)
        }
        return URL(filePath: path).absoluteURL
    }()

    package static var path: String { url.path }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("tests: \(text)\n".utf8))
    }
}
