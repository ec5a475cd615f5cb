// error: conformance of 'MigrationStatus' to 'Sendable' is unavailable
import AppMigrationKit

func send<Value: Sendable>(_ value: Value) {}

func send(_ status: MigrationStatus) {
    send(status as MigrationStatus?)
}
