// The one import for tools that host an app's extension: the engine, and what such an extension sees.
@_exported public import MigrationConversation
@_exported public import MigrationCore
