/// A remedy for an error, as a fact; a program words it with its own flags and commands.
package enum Remedy: Hashable, Sendable {
    // MARK: Containers and apps

    /// Give up an interrupted import and keep all data.
    case discardImport
    /// Finish an interrupted import again.
    case finishImport
    /// Use the directory itself, or name one of the containers in it.
    case takeAnyDirectory
    /// Don't name the container's known app, or change which app the data belongs to.
    case changeApp
    /// Say that the data is for this app.
    case takeForApp(String)
    /// Say that the archive belongs to this app, whose data it replaces.
    case replaceForApp(String)
    /// Name another app than the requested one.
    case nameOtherApp

    // MARK: Archives

    /// Replace data with an archive that may be incomplete.
    case allowIncomplete
    /// Export the bundle that the archive holds.
    case exportBundle
    /// Restore links that lead anywhere.
    case keepExternalLinks
    /// Don't restore owners, access control lists or other attributes.
    case restoreNoExtraMetadata
    /// Restore owners as root, or not at all.
    case restoreOwnersAsRoot
    /// Restore the owners that the archive holds.
    case restoreOwners
    /// Archive this kind of metadata, or don't request it.
    case archiveMetadata(Metadata)
    /// Let the export include this kind of metadata.
    case holdMetadata(Metadata)
    /// Decompress the file with this program before it is read.
    case decompress(by: String)
    /// Make a tar file of it with bsdtar.
    case makeTarFile

    /// A kind of metadata that is archived on request.
    package enum Metadata: Hashable, Sendable {
        case owners, accessLists, attributes
    }

    // MARK: Extensions

    /// Name an archive to rehearse with.
    case nameArchive
    /// Say which app and platform the data comes from.
    case nameSource
    /// Append what was left behind, or allow it.
    case appendLeftBehind
    /// Grant the resource differently, or not at all.
    case changeGrant
    /// Allow an extension a longer silence.
    case allowLongerSilence
    /// Allow an extension more space for temporary files.
    case allowMoreTemporarySpace
    /// Allow an extension more memory.
    case allowMoreMemory
    /// Limit the memory of each of an extension's processes.
    case limitMemory
    /// Map each of these app groups to a directory, or omit its data on purpose.
    case mapGroups([String])
    /// Name the container's app.
    case nameContainerApp

    // MARK: Other hosts

    /// Let the other host run the receiver of archives.
    case runReceiver

    // MARK: Stores

    /// Allow removing this table or column with its data, or declare its new name if it is only
    /// renamed.
    case dropOrRename(String, to: String?)
    /// Correct the new name of this table or column.
    case correctRename(String, to: String)

    // MARK: Backups of phones

    /// Convert the Android backup.
    case convertAndroidBackup
    /// Take an app's data out of the iPhone backup.
    case convertIPhoneBackup
    /// Make an Android backup of the archive.
    case convertToAndroid
    /// Name the package.
    case namePackage
    /// Choose one of the packages.
    case choosePackage
    /// Give the app's backup rules.
    case giveRules
    /// Give the backup's manifest or the app's rules, or don't check the importing app.
    case giveRulesOrDropImporter
    /// Choose one of the apps on iOS.
    case chooseImporter
    /// Give the password of the backup.
    case givePassword
    /// Keep a file whose end is unclear unchanged, or leave it out.
    case judgeUnclearEnd
    /// Treat a file with headers inside as one file, or take the entries inside it.
    case judgeUnclearEntries
    /// Skip the bytes before the backup begins.
    case skipStart(Int)
    /// Ask why nothing of the app is backed up.
    case previewBackup
    /// Don't name storages that only a directory has.
    case nameNoFurtherPlaces
}
