// swift-tools-version: 6.3

import PackageDescription

let patterns = [
    "CombinedMigration", "VersionedMigration", "EnumeratingMigration", "SelectiveMigration",
    "DefensiveMigration", "PlatformMigration", "GroupMigration", "DocumentedMigration",
]

let package = Package(
    name: "guide-patterns",
    dependencies: [
        // The name makes it work whatever directory the repository was cloned into.
        .package(name: "migration", path: "../..")
    ],
    targets: patterns.map { pattern in
        // With the settings of a new package (none), because a guide's code is compiled like that.
        .executableTarget(
            name: pattern,
            dependencies: [
                .product(name: "AppMigrationKit", package: "migration"), "GuideModel",
            ]
        )
    } + [
        .target(name: "GuideModel"),
        .testTarget(
            name: "GuidePatternsTests",
            dependencies: patterns.map { .target(name: $0) } + [
                .product(name: "AppMigrationKit", package: "migration"),
                .product(name: "AppMigrationTesting", package: "migration"),
                .product(name: "MigrationHosting", package: "migration"),
            ],
            exclude: ["guide.entitlements"]
        ),
    ]
)
