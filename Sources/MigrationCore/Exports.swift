// A client that imports MigrationCore sees the types of archives and of system errors that its
// interface speaks of, even where each module must be imported by name.
@_exported public import MigrationArchive
@_exported public import MigrationSystem
