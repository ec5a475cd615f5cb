// error: stored property 'count' of 'Sendable'-conforming class 'Extension' is mutable
import AppMigrationKit

final class Extension: AppMigrationExtension {
    var count = 0
}
