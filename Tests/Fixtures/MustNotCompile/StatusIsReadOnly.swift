// error: cannot assign to property: 'importStatus' is a get-only property
import AppMigrationKit

func forget() {
    MigrationStatus.importStatus = nil
}
