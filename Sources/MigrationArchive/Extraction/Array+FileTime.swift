internal import MigrationSystem

extension [UInt8] {
    /// Appends the 12 bytes of `time`.
    mutating func append(_ time: FileTime) {
        appendLittleEndian(UInt64(bitPattern: time.seconds))
        appendLittleEndian(time.nanoseconds)
    }

    /// The time whose bytes begin at `index`.
    func time(at index: Int) -> FileTime {
        FileTime(
            seconds: Int64(bitPattern: littleEndian(at: index)),
            nanoseconds: littleEndian(at: index + 8)
        )
    }
}
