// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "tasks-app",
    products: [
        .executable(name: "TasksMigration", targets: ["TasksMigration"])
    ],
    dependencies: [
        // The name makes it work whatever directory the repository was cloned into.
        .package(name: "migration", path: "../..")
    ],
    targets: [
        .systemLibrary(
            name: "CTasksSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(name: "TasksStore", dependencies: ["CTasksSQLite"], swiftSettings: settings),
        .executableTarget(
            name: "TasksMigration",
            dependencies: [
                "TasksStore",
                .product(name: "AppMigrationKit", package: "migration"),
            ],
            exclude: ["TasksMigration.entitlements"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TasksMigrationTests",
            dependencies: [
                "TasksMigration",
                "TasksStore",
                .product(name: "AppMigrationKit", package: "migration"),
                .product(name: "AppMigrationTesting", package: "migration"),
                .product(name: "migrate", package: "migration"),
            ],
            swiftSettings: settings
        ),
    ]
)
