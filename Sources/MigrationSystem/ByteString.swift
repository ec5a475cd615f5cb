internal import Glibc

/// The bytes of a path or a name, with no claim on their encoding.
package typealias ByteString = [UInt8]

extension [UInt8] {
    /// The bytes of `string` in UTF-8.
    package init(utf8 string: String) {
        self = [UInt8](string.utf8)
    }

    /// Copies the bytes of a C string.
    package init(cString: UnsafePointer<CChar>) {
        unsafe self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// Calls `body` with these bytes as a C string; they must hold no zero byte.
    @safe
    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        self[...].withPath(body)
    }
}

extension ArraySlice<UInt8> {
    /// Calls `body` with these bytes as a C string; they must hold no zero byte.
    @safe
    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { buffer in
            unsafe withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            }
            unsafe buffer[count] = 0
            return unsafe body(buffer.baseAddress.unsafelyUnwrapped)
        }
    }
}
