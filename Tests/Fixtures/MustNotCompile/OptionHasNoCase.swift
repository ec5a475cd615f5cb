// error: type 'MigrationDefaultSupportedOptions' has no member 'quality'
import AppMigrationKit

let option = MigrationDefaultSupportedOptions.quality
