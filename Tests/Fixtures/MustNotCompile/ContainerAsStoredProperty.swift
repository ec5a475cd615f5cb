// error: cannot use instance member 'appContainer' within property initializer
import AppMigrationKit

struct Extension: AppMigrationExtension {
    let container = appContainer
}
