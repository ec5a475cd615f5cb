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
        unsafe withUnsafeBytes { bytes in
            let everySecondByte: UInt64 = 0x00FF_00FF_00FF_00FF
            let everySecondPair: UInt64 = 0x0000_FFFF_0000_FFFF
            var (sum, start) = (UInt64(0), 0)
            // This many words don't overflow any of the four lanes of 16 bits.
            let wordCount = 64
            while start + 8 * wordCount <= bytes.count {
                var lanes: UInt64 = 0
                for index in 0..<wordCount {
                    let word = unsafe bytes.loadUnaligned(
                        fromByteOffset: start + 8 * index,
                        as: UInt64.self
                    )
                    lanes &+= (word & everySecondByte) &+ (word >> 8 & everySecondByte)
                }
                lanes = (lanes & everySecondPair) &+ (lanes >> 16 & everySecondPair)
                sum &+= (lanes & 0xFFFF_FFFF) &+ lanes >> 32
                start += 8 * wordCount
            }
            for index in start..<bytes.count { unsafe sum &+= UInt64(bytes[index]) }
            return sum
        }
    }

    /// The first index of `byte`; `nil` if it is missing.
    package func firstIndex(of byte: UInt8) -> Int? {
        unsafe withUnsafeBytes { bytes -> Int? in
            guard let start = unsafe bytes.baseAddress,
                let place = unsafe memchr(start, CInt(byte), bytes.count)
            else { return nil }
            return unsafe UnsafeRawPointer(place) - start
        }
    }

    /// The length of the common prefix.
    package func commonPrefix(with other: Span<UInt8>) -> Int {
        let limit = Swift.min(count, other.count)
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                var index = 0
                while index + 8 <= limit {
                    let word = unsafe left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    let other = unsafe right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    let difference = word ^ other
                    guard difference == 0 else {
                        return index + difference.littleEndian.trailingZeroBitCount / 8
                    }
                    index += 8
                }
                while index < limit, unsafe left[index] == right[index] { index += 1 }
                return index
            }
        }
    }

    /// The eight bytes from `start` on as a number that compares as they do; missing ones are zeros.
    @inlinable
    package func orderedWord(from start: Int) -> UInt64 {
        guard count - start >= 8 else { return orderedWord(ofLast: count - start) }
        return unsafe withUnsafeBytes { bytes in
            unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
    }

    /// The last `rest` bytes, fewer than eight, as such a number.
    @usableFromInline
    package func orderedWord(ofLast rest: Int) -> UInt64 {
        if rest <= 0 { return 0 }
        if count >= 8 { return orderedWord(from: count - 8) << (8 * UInt64(8 - rest)) }
        let word = (count - rest..<count).reduce(0) { $0 << 8 | UInt64(self[$1]) }
        return word << (8 * UInt64(8 - rest))
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
    /// Copies `bytes` to `start` and after it, where they must fit.
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
    /// Makes a copy of `bytes`.
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }

    /// Appends a copy of `bytes`.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Appends `value` in little-endian order.
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
