import MigrationContract
import TestSupport

extension Places {
    /// The destination as a container.
    var destinationContainer: MigrationDataContainer {
        get throws { try MigrationDataContainer(atPath: destination) }
    }
}
