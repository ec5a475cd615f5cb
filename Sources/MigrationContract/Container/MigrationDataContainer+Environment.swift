internal import Glibc
internal import MigrationSystem

extension MigrationDataContainer {
    /// The environment variable that names the directory of a process's container.
    package static let environmentVariable = "MIGRATION_CONTAINER"

    /// The container that the environment variable `MIGRATION_CONTAINER` names; `nil` where none.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid` where it names no container.
    package static var namedByEnvironment: MigrationDataContainer? {
        get throws(MigrationError) {
            // Foundation's environment is text, and a path need not be.
            let path = unsafe getenv(environmentVariable).map {
                unsafe ByteString(cString: $0)
            }
            guard let path, !path.isEmpty else { return nil }
            return try MigrationDataContainer(atPath: path)
        }
    }
}
