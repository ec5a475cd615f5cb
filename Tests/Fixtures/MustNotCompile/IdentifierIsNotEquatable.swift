// error: binary operator '==' cannot be applied to two 'MigrationAppIdentifier' operands
import AppMigrationKit

func isSame(_ one: MigrationAppIdentifier, _ other: MigrationAppIdentifier) -> Bool {
    one == other
}
