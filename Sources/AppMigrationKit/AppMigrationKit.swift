// What an app's extension imports by this name on iOS is all in MigrationCore.
@_exported public import MigrationCore
