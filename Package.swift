// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatWarning("ExplicitSendable", as: .error),
]

let librarySettings = settings + [.strictMemorySafety()]

#if os(Linux)
// Apple's systems have this module of their own.
let extensionSupport: [Target.Dependency] = ["ExtensionFoundation"]
let testedExtension: [Target.Dependency] = [
    "AppMigrationKit", "AppMigrationTesting", "ExtensionFoundation", "ProfileMigration",
]
#else
let extensionSupport: [Target.Dependency] = []
let testedExtension: [Target.Dependency] = []
#endif

let package = Package(
    name: "migration",
    products: [
        .library(name: "MigrationCore", targets: ["MigrationCore"]),
        .executable(name: "migrate", targets: ["migrate"]),
    ],
    targets: [
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]
        ),
        .systemLibrary(
            name: "CXXHash",
            pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]
        ),
        .systemLibrary(
            name: "CLibcrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "CMigrationShims"),
        .target(
            name: "MigrationSystem",
            dependencies: ["CMigrationShims"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationArchive",
            dependencies: ["CLibcrypto", "CXXHash", "CZstd", "MigrationSystem"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationCore",
            dependencies: ["MigrationArchive", "MigrationSystem"] + extensionSupport,
            swiftSettings: librarySettings
        ),
        // Apart from what apps link, because it needs Swift Testing.
        .target(
            name: "AppMigrationTesting",
            dependencies: ["MigrationCore", "MigrationSystem"] + extensionSupport,
            swiftSettings: librarySettings
        ),
        .executableTarget(
            name: "migrate",
            dependencies: ["MigrationArchive", "MigrationCore", "MigrationSystem"],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            path: "Tests/Support",
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationSystemTests",
            dependencies: ["MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationArchiveTests",
            dependencies: ["MigrationArchive", "MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationCoreTests",
            dependencies: [
                "MigrationArchive", "MigrationCore", "MigrationSystem", "TestSupport",
            ] + testedExtension,
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationTestingTests",
            dependencies: ["MigrationCore", "MigrationSystem"] + testedExtension,
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrateTests",
            dependencies: [
                "MigrationArchive", "MigrationCore", "MigrationSystem", "TestSupport", "migrate",
            ],
            exclude: ["Snapshots"],
            swiftSettings: settings
        ),
    ]
)

#if os(Linux)
package.products += [
    .library(name: "AppMigrationKit", targets: ["AppMigrationKit", "ExtensionFoundation"]),
    .library(name: "AppMigrationTesting", targets: ["AppMigrationTesting"]),
]
package.targets += [
    .target(name: "ExtensionFoundation", swiftSettings: librarySettings),
    .target(
        name: "AppMigrationKit",
        dependencies: ["MigrationCore"],
        swiftSettings: librarySettings
    ),
    .executableTarget(
        name: "ProfileMigration",
        dependencies: ["AppMigrationKit", "ExtensionFoundation"],
        path: "Tests/Fixtures/ProfileMigration",
        swiftSettings: settings
    ),
]
#endif
