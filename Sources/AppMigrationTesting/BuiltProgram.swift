internal import Foundation

/// The programs that are built with the tests.
enum BuiltProgram {
    /// Where the program `name` is: beside the one that runs the tests, unless it is an absolute path.
    static func url(of name: String) -> URL {
        guard !name.hasPrefix("/") else { return URL(filePath: name) }
        return URL(filePath: "/proc/self/exe")
            .resolvingSymlinksInPath()
            .deletingLastPathComponent()
            .appending(path: name, directoryHint: .notDirectory)
    }
}
