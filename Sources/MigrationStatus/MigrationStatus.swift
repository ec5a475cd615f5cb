// For an app that only asks how its import ended: the status and what it is made of, without the engine.

@_exported public import struct MigrationContract.ImportRecord
@_exported public import struct MigrationContract.MigrationDataContainer
@_exported public import struct MigrationContract.MigrationError
@_exported public import enum MigrationContract.MigrationStatus
@_exported public import struct MigrationContract.PersistedError
@_exported public import struct MigrationContract.ResumeActivity
@_exported public import MigrationContainers
