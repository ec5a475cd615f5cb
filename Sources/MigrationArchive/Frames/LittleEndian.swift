extension [UInt8] {
    /// Appends `value`, its lowest byte first.
    mutating func appendLittleEndian(_ value: some FixedWidthInteger & UnsignedInteger) {
        var rest = value
        for _ in 0..<(type(of: value).bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// The number of `Value`'s width whose lowest byte stands at `index`.
    func littleEndian<Value: FixedWidthInteger & UnsignedInteger>(
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
