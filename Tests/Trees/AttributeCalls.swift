import Glibc

/// The C library's calls for extended attributes, which its Swift module does not show.
enum AttributeCalls {
    typealias List =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<CChar>?, Int) -> Int
    typealias Get =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int)
        -> Int
    typealias Set =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32)
        -> Int32

    static let list = find("llistxattr", as: List.self)
    static let get = find("lgetxattr", as: Get.self)
    static let set = find("lsetxattr", as: Set.self)

    private static func find<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let address = dlsym(nil, name) else { preconditionFailure("no \(name)") }
        return unsafeBitCast(address, to: type)
    }
}
