// The one import for tools: the public interface of the modules below is part of this module's
// interface.
@_exported public import MigrationArchive
@_exported public import MigrationContainers
@_exported public import MigrationContract
@_exported public import MigrationSystem
