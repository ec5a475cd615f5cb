internal import MigrationSystem

extension FileStatus.Kind {
    /// The kind as differences name it.
    var name: String {
        switch self {
        case .regular: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .characterDevice, .blockDevice: "a device"
        case .unknown: "something else"
        }
    }
}
