internal import MigrationSystem

/// The extended attributes of a file: those that an archive carries, and the names of the others.
struct FileAttributes {
    private(set) var carried: [ExtendedAttribute] = []
    private(set) var others: [ByteString] = []

    private static let namespace = ByteString(utf8: "user.")

    /// Reads the attributes of `file`.
    init(of file: borrowing FileDescriptor) throws(SystemError) {
        let names: [ByteString]
        do throws(SystemError) {
            names = try file.extendedAttributeNames()
        } catch {
            others = try Self.unlisted(error)
            return
        }
        for name in names {
            if name.starts(with: Self.namespace) {
                let value = try file.extendedAttribute(name)
                carried.append(ExtendedAttribute(name: name, value: value))
            } else {
                others.append(name)
            }
        }
    }

    /// What stands for the names that the system could not list, in a report; throws any other error.
    static func unlisted(_ error: SystemError) throws(SystemError) -> [ByteString] {
        guard error.isUnsupported else { throw error }
        return [ByteString(utf8: "all, which the system can't list: \(error)")]
    }
}
