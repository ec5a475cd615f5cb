// error: 'ResourcesArchiver' initializer is inaccessible due to 'package' protection level
// error: missing argument for parameter 'appendingTo' in call
import AppMigrationKit

let archiver = ResourcesArchiver()
