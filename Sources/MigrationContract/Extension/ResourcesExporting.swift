/// An extension that exports the app's resources.
///
/// Corresponds to AppMigrationKit's type of that name. It is ``ResourcesExportingWithOptions`` with
/// options that there are none of, so that its requests are ``MigrationRequest``.
public protocol ResourcesExporting: ResourcesExportingWithOptions
where OptionsType == MigrationDefaultSupportedOptions {}
