// error: missing argument for parameter 'at' in call
import AppMigrationKit

let container = MigrationDataContainer()
