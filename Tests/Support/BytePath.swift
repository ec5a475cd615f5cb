public import Foundation
import Glibc
import Testing

/// A path of any bytes, for tests that look at files with no help of the code under test.
public struct BytePath: Hashable, Sendable {
    /// The bytes, as the system takes them.
    public let bytes: [UInt8]

    /// Makes a path of bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path of the UTF-8 bytes of a text.
    public init(_ text: String) {
        self.init([UInt8](text.utf8))
    }

    /// The last component.
    public var name: BytePath {
        BytePath([UInt8](bytes.split(separator: UInt8(ascii: "/")).last ?? []))
    }

    /// The path of the directory that it is in.
    public var parent: BytePath {
        BytePath([UInt8](bytes[..<(bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)]))
    }

    /// The path as text; bytes that are no UTF-8 are lost.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The directory of the running test; the test fails where it has none.
    public static var scratch: BytePath {
        get throws { BytePath([UInt8](try #require(ScratchDirectory.current).path.utf8)) }
    }

    /// The path of `name` in this directory.
    public static func / (directory: BytePath, name: BytePath) -> BytePath {
        BytePath(directory.bytes + [UInt8(ascii: "/")] + name.bytes)
    }

    /// The path as a file URL; only a path that is UTF-8 survives it.
    public var url: URL {
        URL(filePath: text)
    }

    /// Calls `body` with the path as C takes it.
    public func withPointer<Value>(
        _ body: (UnsafePointer<CChar>) throws -> Value
    ) rethrows -> Value {
        let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
        return try terminated.withUnsafeBufferPointer { buffer in
            guard let pointer = buffer.baseAddress else { preconditionFailure() }
            return try body(pointer)
        }
    }
}

extension BytePath: ExpressibleByStringInterpolation {
    /// Makes a path of the UTF-8 bytes of a literal.
    public init(stringLiteral text: String) {
        self.init([UInt8](text.utf8))
    }
}

extension BytePath: Comparable {
    /// Orders paths by their bytes.
    public static func < (left: BytePath, right: BytePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension BytePath: CustomStringConvertible {
    /// The path as it may be printed.
    public var description: String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        return "\"\(scalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}

/// A call to the system that failed in a test's own set-up.
public struct CallFailure: Error, CustomStringConvertible {
    /// The call.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Makes a failure from `errno`.
    public init(_ call: String) {
        self.call = call
        code = errno
    }

    /// The call and why it failed.
    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
