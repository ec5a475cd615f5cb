// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "notes-app",
    products: [
        .executable(name: "notes", targets: ["notes"]),
        .executable(name: "NotesMigration", targets: ["NotesMigration"]),
    ],
    dependencies: [
        // The name makes it work whatever directory the repository was cloned into.
        .package(name: "migration", path: "../..")
    ],
    targets: [
        .target(
            name: "NotesStore",
            dependencies: [
                .product(name: "StoreMigration", package: "migration"),
                // On Apple's systems the SDK has it.
                .target(name: "SQLite3", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(name: "SQLite3", pkgConfig: "sqlite3"),
        .executableTarget(
            name: "notes",
            dependencies: [
                "NotesStore",
                .product(name: "AppMigrationKit", package: "migration"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "NotesMigration",
            dependencies: [
                "NotesStore",
                .product(name: "AppMigrationKit", package: "migration"),
                .product(name: "StoreMigration", package: "migration"),
            ],
            exclude: ["NotesMigration.entitlements"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NotesMigrationTests",
            dependencies: [
                "NotesMigration",
                "NotesStore",
                "notes",
                .product(name: "AppMigrationKit", package: "migration"),
                .product(name: "AppMigrationTesting", package: "migration"),
                .product(name: "MigrationHosting", package: "migration"),
                .product(name: "StoreMigration", package: "migration"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
    ]
)
