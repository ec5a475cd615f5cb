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
            dependencies: ["MigrationArchive", "MigrationSystem"],
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
        .executableTarget(name: "CallProbe", path: "Tests/CallProbe"),
        .testTarget(
            name: "MigrationSystemTests",
            dependencies: ["CallProbe", "MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationArchiveTests",
            dependencies: ["MigrationArchive", "MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationCoreTests",
            dependencies: ["MigrationArchive", "MigrationCore", "MigrationSystem", "TestSupport"],
            exclude: ["Fixtures"],
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
