// Exports the names of Apple's module, and of this project's additions only those that every
// extension or app needs. An app may have its own `MigrationError` or `ImportRecord` in any of its
// modules, so the rest comes with MigrationCore and MigrationHosting.

@_exported public import protocol MigrationContract.AppMigrationExtension
@_exported public import struct MigrationContract.MigrationAppIdentifier
@_exported public import struct MigrationContract.MigrationDataContainer
@_exported public import enum MigrationContract.MigrationDefaultSupportedOptions
@_exported public import struct MigrationContract.MigrationPlatform
@_exported public import typealias MigrationContract.MigrationRequest
@_exported public import struct MigrationContract.MigrationRequestWithOptions
@_exported public import enum MigrationContract.MigrationStatus
@_exported public import class MigrationContract.ResourcesArchiver
@_exported public import protocol MigrationContract.ResourcesExporting
@_exported public import protocol MigrationContract.ResourcesExportingWithOptions
@_exported public import struct MigrationContract.ResourcesImportRequest
@_exported public import protocol MigrationContract.ResourcesImporting
@_exported public import class MigrationHosting.AppMigrationTester

// What a person granted, and what the person was doing.
@_exported public import struct MigrationContract.GrantedResource
@_exported public import struct MigrationContract.ResumeActivity
@_exported public import protocol MigrationContract.ResumeActivityExporting
