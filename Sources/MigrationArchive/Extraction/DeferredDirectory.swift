internal import MigrationSystem

/// The mode and time that a directory gets once it is complete.
///
/// What is made in it would change its time, or be kept from it by its mode.
struct DeferredDirectory: Equatable {
    let path: [UInt8]
    let permissions: UInt16
    let modificationTime: FileTime

    var record: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(permissions)
        bytes.append(modificationTime)
        return bytes + path
    }

    init(path: [UInt8], permissions: UInt16, modificationTime: FileTime) {
        self.path = path
        self.permissions = permissions
        self.modificationTime = modificationTime
    }

    init(record: [UInt8]) {
        permissions = record.littleEndian(at: 0)
        modificationTime = record.time(at: 2)
        path = [UInt8](record[14...])
    }
}
