internal import Glibc

/// The reason why the container could not be made.
enum SampleError: Error, CustomStringConvertible {
    case usage(String)
    case notEmpty(String)
    case system(call: String, path: String, code: Int32)
    case database(String)

    /// The failure of the system call that just returned.
    static func last(_ call: String, _ path: String) -> SampleError {
        .system(call: call, path: path, code: errno)
    }

    var description: String {
        switch self {
        case .usage(let complaint): complaint
        case .notEmpty(let path): "\(path) exists and is not empty: name a new directory"
        case .system(let call, let path, let code):
            "\(call) of \(path): \(String(cString: strerror(code)))"
        case .database(let complaint): "the notes database: \(complaint)"
        }
    }
}
