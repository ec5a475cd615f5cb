// error: cannot assign to property: 'allCases' is a 'let' constant
// error: cannot assign to property: 'android' is a 'let' constant
// error: cannot assign to property: 'googlePlay' is a 'let' constant
// error: cannot assign to property: 'bundleIdentifier' is a 'let' constant
// error: cannot assign to property: 'containerRootDirectory' is a 'let' constant
// error: cannot assign to property: 'rawValue' is a 'let' constant
// error: cannot assign to property: 'storeIdentifier' is a 'let' constant
// error: cannot assign to property: 'sourceVersion' is a 'let' constant
// error: cannot assign to property: 'options' is a 'let' constant
import AppMigrationKit
import Foundation

func change(
    _ container: inout MigrationDataContainer,
    _ platform: inout MigrationPlatform,
    _ app: inout MigrationAppIdentifier,
    _ source: inout ResourcesImportRequest,
    _ request: inout MigrationRequest
) {
    MigrationDefaultSupportedOptions.allCases = []
    MigrationPlatform.android = platform
    MigrationAppIdentifier.StoreIdentifier.googlePlay = app.storeIdentifier
    container.bundleIdentifier = ""
    container.containerRootDirectory = container.documentsDirectory
    platform.rawValue = ""
    app.storeIdentifier = .googlePlay
    source.sourceVersion = ""
    request.options = [:]
}
