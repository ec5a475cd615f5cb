/// What helps against an error, as a fact; a program says it in the words of its own flags and commands.
package enum Remedy: Hashable, Sendable {
    // MARK: Containers and apps

    /// Give up an interrupted import and keep all data.
    case discardImport
    /// Finish an interrupted import again.
    case finishImport
    /// Take the directory as it is, or name one of the containers in it.
    case takeAnyDirectory
    /// Don't name the app that the container has already, or change whose data it is.
    case changeApp
    /// Say that the data is for this app.
    case takeForApp(String)
    /// Say that the archive is of this app, whose data it replaces.
    case replaceForApp(String)
    /// Name another app than the one for which the data was asked.
    case nameOtherApp

    // MARK: Archives

    /// Replace data with an archive that may be incomplete.
    case allowIncomplete
    /// Export the bundle that the archive holds.
    case exportBundle
    /// Restore links that lead anywhere.
    case keepExternalLinks
    /// Restore no owners, access control lists or further attributes.
    case restoreNoExtraMetadata
    /// Restore owners as root, or not at all.
    case restoreOwnersAsRoot
    /// Restore the owners that the archive holds.
    case restoreOwners
    /// Archive this kind of metadata, or don't ask for it.
    case archiveMetadata(Metadata)
    /// Let the export hold this kind of metadata.
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
    /// Grant the resource otherwise, or not.
    case changeGrant
    /// Allow an extension a longer silence.
    case allowLongerSilence
    /// Allow an extension more space for temporary files.
    case allowMoreTemporarySpace
    /// Allow an extension more memory.
    case allowMoreMemory
    /// Limit the memory of each of an extension's processes.
    case limitMemory
    /// Give each of these app groups a directory, or leave its data out on purpose.
    case mapGroups([String])
    /// Name the container's app.
    case nameContainerApp

    // MARK: Other hosts

    /// Let the other host run the receiver of archives.
    case runReceiver

    // MARK: Stores

    /// Let this table or column go with its data, or rename it, if it is only renamed.
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
    /// Take a file with unclear ends as it is, or leave it out.
    case judgeUnclearEnd
    /// Take a file with headers inside as one, or take the entries inside it.
    case judgeUnclearEntries
    /// Skip the bytes before the backup begins.
    case skipStart(Int)
    /// Ask why nothing of the app is backed up.
    case previewBackup
    /// Name no places that belong to a directory.
    case nameNoFurtherPlaces
}
