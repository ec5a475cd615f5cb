internal import MigrationSystem

/// The extended attributes of a file: those that an archive carries, and the names of the others.
struct FileAttributes {
    private(set) var carried: [ExtendedAttribute] = []
    private(set) var others: [ByteString] = []

    private static let namespace = ByteString(utf8: "user.")

    /// Reads the attributes of `file`.
    init(of file: borrowing FileDescriptor) throws(SystemError) {
        for name in try file.extendedAttributeNames() {
            if name.starts(with: Self.namespace) {
                let value = try file.extendedAttribute(name)
                carried.append(ExtendedAttribute(name: name, value: value))
            } else {
                others.append(name)
            }
        }
    }
}
