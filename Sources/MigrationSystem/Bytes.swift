internal import Glibc

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

extension Span<UInt8> {
    /// The sum of the bytes.
    package var sum: UInt64 {
        unsafe withUnsafeBufferPointer { unsafe $0.reduce(0) { $0 &+ UInt64($1) } }
    }

    /// Whether `other` holds the same bytes.
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { bytes in
            unsafe other.withUnsafeBytes { others in
                guard let left = bytes.baseAddress, let right = others.baseAddress else {
                    return true
                }
                return unsafe memcmp(left, right, bytes.count) == 0
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Copies `bytes` to the place from `start` on, which must have room for them.
    package mutating func copy(_ bytes: Span<UInt8>, to start: Int) {
        // A release build doesn't check the range of a raw buffer.
        precondition(start >= 0 && bytes.count <= count - start, "the bytes don't fit")
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(
                    rebasing: target[start..<start + source.count]
                ).copyMemory(from: source)
            }
        }
    }
}

extension [UInt8] {
    /// Appends a copy of `bytes`.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Appends `value`, its lowest byte first.
    @inlinable
    package mutating func appendLittleEndian(_ value: some FixedWidthInteger & UnsignedInteger) {
        var rest = value
        for _ in 0..<(type(of: value).bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The number of `Value`'s width whose lowest byte is at `index`.
    @inlinable
    package func littleEndian<Value: FixedWidthInteger & UnsignedInteger>(
        at index: Int,
        as type: Value.Type = Value.self
    ) -> Value {
        var value: Value = 0
        for offset in (0..<(Value.bitWidth / 8)).reversed() {
            value = value << 8 | Value(self[index + offset])
        }
        return value
    }
}

extension UInt64 {
    /// Adds `number` and stops at the largest value, because sparse files may have any size.
    package mutating func addSaturating(_ number: UInt64) {
        let (sum, overflow) = addingReportingOverflow(number)
        self = overflow ? .max : sum
    }
}
