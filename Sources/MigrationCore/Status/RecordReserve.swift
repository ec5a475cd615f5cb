internal import Foundation
internal import MigrationSystem

/// Room for the record of a failure, taken while there is some: a full disk may be what fails.
///
/// It is the file that replaces the record, so that neither bytes nor a file must be found for it. What
/// a dead process leaves of it is removed like any file that was to replace another.
struct RecordReserve {
    /// More than a record takes, whatever the error that it holds says.
    private static let size = 64 * 1024

    private static let name = BookkeepingDirectory.temporaryName(
        for: BookkeepingDirectory.recordName
    )

    private let directory: OpenFile
    private let file: OpenFile

    /// Takes the room in `bookkeeping`.
    static func make(
        in bookkeeping: BookkeepingDirectory
    ) throws(SystemError) -> RecordReserve {
        try bookkeeping.remove(name)
        let directory = bookkeeping.openDirectory
        let file = try bookkeeping.makeFile(name)
        do {
            // Not zeros, for which a file system may keep no room.
            let filling = [UInt8](repeating: UInt8(ascii: " "), count: size)
            try file.descriptor.writeAll(filling.span)
        } catch {
            // The reason is what the person must hear, not that tidying up failed too.
            try? directory.descriptor.removeFile(name)
            throw error
        }
        return RecordReserve(directory: directory, file: file)
    }

    /// Gives the room to whoever has to write: it is taken from the file that was made for it, whatever
    /// has its name by now.
    func giveRoom() throws(SystemError) {
        try file.descriptor.setSize(0)
    }

    /// Removes from `bookkeeping` what a dead process kept room with.
    static func remove(from bookkeeping: BookkeepingDirectory) throws(SystemError) {
        try bookkeeping.remove(name)
    }

    /// Makes the room the record, which holds `data`.
    ///
    /// - Returns: Whether the room was still there, which another file may have had.
    func write(_ data: Data) throws(SystemError) -> Bool {
        let room = try file.descriptor.status().identity
        let current = try? directory.descriptor.status(of: Self.name).identity
        guard current == room else { return false }
        let bytes = [UInt8](data)
        try file.descriptor.writeAll(bytes.span, at: 0)
        try file.descriptor.setSize(UInt64(bytes.count))
        try file.descriptor.synchronize()
        let final = ByteString(utf8: BookkeepingDirectory.recordName)
        try directory.descriptor.rename(Self.name, to: final, in: directory.descriptor)
        try directory.descriptor.synchronize()
        return true
    }
}
