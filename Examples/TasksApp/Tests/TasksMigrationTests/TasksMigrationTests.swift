import AppMigrationKit
import AppMigrationTesting
import Foundation
import TasksStore
import Testing

@testable import TasksMigration

/// The importer with an emulator's backup, in this process.
@Suite(.migration(of: TasksMigration.self, bundleIdentifier: "com.example.tasks"))
struct TasksMigrationTests {
    @Test
    func `everything arrives from Android`() async throws {
        let container = try #require(MigrationTestContext.current).container
        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 0)
        try await withAndroidDevice { device in
            let resources = try device.resources()
            try await tester.importController.importResources(
                from: resources,
                importRequest: .fromAndroid(),
                progress: progress
            )
            // Only the preferences, which were read, are left; every other file has a place.
            #expect(
                try resources.files.keys.sorted() == [
                    "app/shared_prefs/settings.xml", "device/app/shared_prefs/alarms.xml",
                ]
            )
        }
        #expect(progress.isFinished)
        #expect(await tester.findings == [])
        try ImportedTasks(in: container.containerRootDirectory).expectAll()
    }

    @Test(arguments: [
        (
            ResourcesImportRequest.fromAndroid(app: "com.example.rival"),
            TasksMigrationError.untrustedSource("com.example.rival")
        ),
        (.fromAndroid(version: "3"), .unknownVersion("3")),
    ])
    func `refuses another app and an unknown format, with nothing touched`(
        _ request: ResourcesImportRequest,
        _ expected: TasksMigrationError
    ) async throws {
        let container = try #require(MigrationTestContext.current).container
        let tester = try await AppMigrationTester(platform: .android)
        try await withAndroidDevice { device in
            let resources = try device.resources()
            let files = try resources.files
            let error = await #expect(throws: NSError.self) {
                try await tester.importController.importResources(
                    from: resources,
                    importRequest: request
                )
            }
            #expect(error?.localizedDescription == expected.errorDescription)
            #expect(try resources.files == files)
        }
        #expect(try container.containerRootDirectory.files == [:])
    }

    @Test
    func `fails where a name in the rules is misspelt`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        try await withAndroidDevice { device in
            try device.replaceInRules("path=\"tasks.db\"", with: "path=\"task.db\"")
            #expect(try device.lint().output.contains("[dead-rule]"))
            let resources = try device.resources()
            let error = await #expect(throws: NSError.self) {
                try await tester.importController.importResources(
                    from: resources,
                    importRequest: .fromAndroid()
                )
            }
            #expect(error?.localizedDescription == TasksMigrationError.noTasks.errorDescription)
        }
    }

    @Test
    func `refuses what is not its database`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        for content in [Data("not a database".utf8), Data()] {
            try await withAndroidDevice { device in
                let databases = device.data.appending(path: "databases")
                try FileManager.default.removeItem(at: databases.appending(path: "tasks.db-wal"))
                try content.write(to: databases.appending(path: "tasks.db"))
                let resources = try device.resources()
                await #expect(throws: NSError.self) {
                    try await tester.importController.importResources(
                        from: resources,
                        importRequest: .fromAndroid()
                    )
                }
                try #require(MigrationTestContext.current).container.empty()
            }
        }
    }

    @Test
    func `reads preferences of all six types`() async throws {
        try await withAndroidDevice { device in
            let file = device.data.appending(path: "shared_prefs/settings.xml")
            let preferences = try SharedPreferences(contentsOf: file)
            #expect(preferences.string("sort_order") == "due & title")
            #expect(preferences.boolean("show_done") == false)
            #expect(preferences.integer("remind_minutes") == 15)
            #expect(preferences.integer("first_used") == 1_714_552_200_000)
            #expect(preferences.number("text_scale") == 1.25)
            #expect(preferences.set("pinned_lists") == ["Garden", "Work"])
            #expect(preferences["sound"] == nil)
            try Data("<map><int name=\"a\"".utf8).write(to: file)
            #expect(throws: TasksMigrationError.unreadablePreferences("settings.xml")) {
                try SharedPreferences(contentsOf: file)
            }
        }
    }
}

/// The importer as the system runs it: a program, confined to what its entitlements name.
@Suite(.migration(executable: "TasksMigration", entitlements: .tasksMigrationEntitlements))
struct TasksMigrationProcessTests {
    @Test
    func `everything arrives from Android`() async throws {
        let container = try #require(MigrationTestContext.current).container
        let tester = try await AppMigrationTester(platform: .android)
        try await withAndroidDevice { device in
            try await tester.importController.importResources(
                from: device.resources(),
                importRequest: .fromAndroid()
            )
        }
        #expect(await tester.findings == [])
        try ImportedTasks(in: container.containerRootDirectory).expectAll()
    }

    @Test
    func `the archive says by itself where it comes from`() async throws {
        try await withAndroidDevice { device in
            try device.backUp()
            try device.convert()
            let phone = device.directory.appending(path: "phone")
            let run = try device.migrate([
                "import", device.archive.path, "--container", phone.path,
                "--extension", Bundle.main.bundleURL.appending(path: "TasksMigration").path,
                "--entitlements", URL.tasksMigrationEntitlements.path,
            ])
            try #require(run.status == 0, "\(run.errors)")
            try ImportedTasks(in: phone).expectAll()
        }
    }
}

/// The data that the app on iOS finds at its first launch.
private struct ImportedTasks {
    private let root: URL
    private let layout: StoreLayout

    init(in root: URL) {
        self.root = root
        layout = StoreLayout(inContainerAt: root)
    }

    func expectAll() throws {
        let toDos = try TasksDatabase(at: layout.tasks).toDos
        let plan = "1/Plan of the garden 🌱.csv"
        #expect(
            toDos == [
                ToDo("Draw a plan of the garden", isDone: true, attachment: plan),
                ToDo("Die Blumen gießen"),
                // This one was only in the -wal.
                ToDo("花に水をやる"),
            ]
        )
        var settings = Settings()
        settings.sortOrder = "due & title"
        settings.showsDone = false
        settings.minutesToRemind = 15
        settings.textScale = 1.25
        settings.pinnedLists = ["Garden", "Work"]
        settings.sound = "bell.wav"
        #expect(try Settings(contentsOf: layout.settings) == settings)
        #expect(
            try root.files.keys.sorted() == [
                "Documents/Attachments/\(plan)", "Documents/Exports/2026-04.csv",
                "Library/Application Support/Drafts/draft-1.txt",
                "Library/Application Support/Widgets/12.json",
                "Library/Application Support/reminders.db",
                "Library/Application Support/settings.json",
                "Library/Application Support/tasks.db", "Library/Sounds/bell.wav",
            ]
        )
    }
}

extension ResourcesImportRequest {
    /// A request of the app on Android, from Google Play.
    fileprivate static func fromAndroid(
        app identifier: String = "com.example.tasks",
        version: String = TasksMigration.contentVersion
    ) -> ResourcesImportRequest {
        ResourcesImportRequest(
            sourceAppIdentifier: MigrationAppIdentifier(
                storeIdentifier: .googlePlay,
                bundleIdentifier: identifier,
                platform: .android
            ),
            sourceVersion: version
        )
    }
}

extension URL {
    /// The entitlements that the extension is built with.
    fileprivate static let tasksMigrationEntitlements = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../Sources/TasksMigration/TasksMigration.entitlements")
        .standardized
}
