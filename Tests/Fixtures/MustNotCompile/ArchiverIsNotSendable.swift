// error: conformance of 'ResourcesArchiver' to 'Sendable' is unavailable
import AppMigrationKit

func send<Value: Sendable>(_ value: Value) {}

func check(_ archiver: ResourcesArchiver) {
    send(archiver)
}
