/// The times that the files of one file system can have.
///
/// The kernel changes any other time without an error: ext4 turns 1754 into 1901, and with inodes
/// of 128 bytes it drops fractions and everything after 2038. An unnamed probe file shows what the
/// kernel does.
package final class StorableTimes: Sendable {
    /// Seconds that every file system can store; FAT begins in 1980, in local time.
    private static let common: ClosedRange<Int64> = 316_000_000...2_147_400_000

    private let probe: OpenFile
    private let holdsFractions: Bool

    /// Makes the probe on the file system of `directory`.
    package init(in directory: borrowing FileDescriptor) throws(SystemError) {
        probe = OpenFile(try directory.openTemporary())
        let time = FileTime(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        holdsFractions = Self.stored(time, in: probe) == time
    }

    /// The time that is stored for a file with `time`.
    package func stored(_ time: FileTime) -> FileTime {
        if Self.common.contains(time.seconds), holdsFractions || time.nanoseconds == 0 {
            return time
        }
        return Self.stored(time, in: probe)
    }

    private static func stored(_ time: FileTime, in probe: OpenFile) -> FileTime {
        do throws(SystemError) {
            try probe.descriptor.setModificationTime(time)
            return try probe.descriptor.status().modificationTime
        } catch {
            // If the probe fails, setting the file's own time fails too, and reports the reason.
            return time
        }
    }
}
