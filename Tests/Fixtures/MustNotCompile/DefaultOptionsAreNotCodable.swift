// error: global function 'store' requires that 'MigrationDefaultSupportedOptions' conform to 'Encodable'
import AppMigrationKit

func store<Value: Encodable>(_ type: Value.Type) {}

func check() {
    store(MigrationDefaultSupportedOptions.self)
}
