// error: binary operator '==' cannot be applied to two 'MigrationStatus' operands
import AppMigrationKit

func isSame(_ one: MigrationStatus, _ other: MigrationStatus) -> Bool {
    one == other
}
