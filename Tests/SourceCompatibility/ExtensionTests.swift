import AppMigrationKit
import Foundation
import Testing

@Suite struct ExtensionTests {
    @Test @MainActor func `asks an extension for its properties through the protocol`() async {
        func properties(of exporter: some ResourcesExportingWithOptions) async -> [String] {
            [
                String(await exporter.resourcesSizeEstimate), exporter.resourcesVersion,
                String(exporter.resourcesCompressible),
            ]
        }
        #expect(await properties(of: SendingExporter()) == ["4096", "2.0", "false"])
        #expect(await properties(of: StoringExporter()) == ["8192", "1.0", "true"])
        #expect(await properties(of: ActorExtension()) == ["0", "1.0", "true"])
        #expect(await properties(of: MainActorExtension()) == ["0", "1.0", "true"])
    }

    @Test func `makes every kind of extension without arguments, on the main actor`() async {
        @MainActor func make<Made: AppMigrationExtension>(_ type: Made.Type) -> Made { Made() }
        #expect(await make(FinalClassExtension.self).resourcesImportProgress.totalUnitCount == 1)
        #expect(await make(OpenClassExtension.self).resourcesImportProgress.totalUnitCount == 1)
        #expect(await make(ActorExtension.self).resourcesImportProgress.totalUnitCount == 1)
        #expect(await make(EnumerationExtension.self) == .only)
        #expect(await make(MovingImporter.self).resourcesImportProgress.isFinished == false)
        _ = await make(MainActorExtension.self)
        _ = await make(IdleExtension.self)
    }

    @Test func `tells by its type what an extension can do`() {
        #expect(!Self.exports(IdleExtension.self))
        #expect(!Self.imports(IdleExtension.self))
        #expect(Self.exports(NotesMigration.self))
        #expect(Self.imports(NotesMigration.self))
        #expect(!Self.exports(MovingImporter.self))
        #expect(Self.imports(MovingImporter.self))
        #expect(Self.exports(OptionExporter.self))
        #expect(Self.exportsWithoutOptions(NotesMigration.self))
        #expect(!Self.exportsWithoutOptions(OptionExporter.self))
    }

    private static func exports(_ type: Any.Type) -> Bool {
        type is any ResourcesExportingWithOptions.Type
    }

    private static func exportsWithoutOptions(_ type: Any.Type) -> Bool {
        type is any ResourcesExporting.Type
    }

    private static func imports(_ type: Any.Type) -> Bool {
        type is any ResourcesImporting.Type
    }

    @Test func `supports the options that the extension's method takes`() {
        #expect(OptionExporter.OptionsType.self == NotesOption.self)
        #expect(NamedOptionExporter.OptionsType.self == NamedOptionExporter.Option.self)
        #expect(NotesMigration.OptionsType.self == MigrationDefaultSupportedOptions.self)
    }

    @Test func `gives one configuration to each extension, which takes no connection`() async {
        await MainActor.run {
            let first = NotesMigration().configuration
            let second = NotesMigration().configuration
            #expect(type(of: first) == type(of: second))
            #expect(type(of: first) == NotesMigration.Configuration.self)
        }
    }

    @Test func `lets an extension bring the container of its test`() async throws {
        let directory = FileManager.default.temporaryDirectory
        let container = try MigrationDataContainer(at: directory, bundleIdentifier: "com.example")
        let extensionInTest = OwnContainerImporter(appContainer: container)
        let progress = extensionInTest.resourcesImportProgress
        let hosted: any ResourcesImporting = extensionInTest
        try await hosted.importResources(at: directory, request: .fromAndroid)
        #expect(hosted.appContainer.bundleIdentifier == "com.example")
        #expect(progress.isFinished)
    }

    @Test @MainActor func `passes what an importer throws`() async {
        await #expect(throws: CocoaError.self) {
            let request = ResourcesImportRequest(
                sourceAppIdentifier: MigrationAppIdentifier(
                    storeIdentifier: .appStore,
                    bundleIdentifier: "com.example",
                    platform: .iOS
                ),
                sourceVersion: "1.0"
            )
            let directory = FileManager.default.temporaryDirectory
            try await MovingImporter().importResources(at: directory, request: request)
        }
    }

    @Test func `grants no app group outside a session`() {
        let group = FileManager.default.containerURL(
            forSecurityApplicationGroupIdentifier: "group.com.example.notes"
        )
        #expect(group == nil)
    }

    @Test func `ends an extension that asks for a container where there is none`() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            unsetenv("MIGRATION_CONTAINER")
            _ = await NotesMigration().appContainer
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("let a host run the extension, or set MIGRATION_CONTAINER"))
    }

    @Test func `finds the container that the environment names`() async {
        await #expect(processExitsWith: .success) {
            let directory = FileManager.default.temporaryDirectory
            setenv("MIGRATION_CONTAINER", directory.path, 1)
            let container = await NotesMigration().appContainer
            let root = container.containerRootDirectory
            #expect(root.lastPathComponent == directory.lastPathComponent)
            #expect(container.documentsDirectory.lastPathComponent == "Documents")
        }
    }

    @Test func `tells an app how its import ended`() {
        #expect(GuideApp.message(for: nil) == "nothing moved")
        #expect(GuideApp.message(for: .success) == "welcome back")
        let error = NSError(domain: "Notes", code: 1, userInfo: [NSLocalizedDescriptionKey: "old"])
        #expect(GuideApp.message(for: .failure(error)) == "old")
    }
}

extension ResourcesImportRequest {
    /// The requests to an extension when data comes from an app on Android.
    static let fromAndroid = ResourcesImportRequest(
        sourceAppIdentifier: MigrationAppIdentifier(
            storeIdentifier: .googlePlay,
            bundleIdentifier: "com.example.notes",
            platform: .android
        ),
        sourceVersion: "1.0"
    )
}
