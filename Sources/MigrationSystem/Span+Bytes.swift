internal import Glibc

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

extension [UInt8] {
    /// Appends a copy of `bytes`.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
