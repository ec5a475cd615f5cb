package import Foundation
import Glibc
@_exported public import MigrationSystem

// The parts of a path that tests need besides its bytes. They look at files without the code under
// test.

extension BytePath {
    /// The last component.
    package var name: BytePath { BytePath(lastComponent) }

    /// The path as text; bytes that are not valid UTF-8 are lost.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The path as a file URL; only a path that is UTF-8 survives it.
    package var url: URL {
        URL(filePath: text)
    }

    /// Calls `body` with the path as C takes it.
    package func withPointer<Value>(
        _ body: (UnsafePointer<CChar>) throws -> Value
    ) rethrows -> Value {
        let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
        return try terminated.withUnsafeBufferPointer { buffer in
            guard let pointer = buffer.baseAddress else { preconditionFailure() }
            return try body(pointer)
        }
    }
}

extension BytePath: CustomStringConvertible {
    /// The path in printable form.
    package var description: String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        return "\"\(scalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}

/// A call to the system that failed in a test's own set-up.
package struct CallFailure: Error, CustomStringConvertible {
    /// The call.
    package let call: String
    /// The value of `errno`.
    package let code: Int32

    /// Makes a failure from `errno`.
    package init(_ call: String) {
        self.call = call
        code = errno
    }

    /// The call and why it failed.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
