// error: 'MigrationRequestWithOptions' requires the types 'Int' and 'String' be equivalent
import AppMigrationKit

enum Option: Int, CaseIterable {
    case quality
}

func check(_ request: MigrationRequestWithOptions<Option>) {}
