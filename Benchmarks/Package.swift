// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let package = Package(
    name: "benchmarks",
    products: [
        .executable(name: "migration-benchmarks", targets: ["MigrationBenchmarks"]),
        .executable(name: "session-benchmarks", targets: ["SessionBenchmarks"]),
        .executable(name: "android-benchmarks", targets: ["AndroidBenchmarks"]),
        .executable(name: "appending-extension", targets: ["appending-extension"]),
    ],
    dependencies: [.package(name: "migration", path: "..")],
    targets: [
        .target(name: "CScheduling"),
        .executableTarget(
            name: "MigrationBenchmarks",
            dependencies: ["CScheduling"],
            swiftSettings: settings
        ),
        .target(
            name: "AppendingExtension",
            dependencies: [.product(name: "AppMigrationKit", package: "migration")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "appending-extension",
            dependencies: [
                "AppendingExtension", .product(name: "AppMigrationKit", package: "migration"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "AndroidBenchmarks", swiftSettings: settings),
        .executableTarget(
            name: "SessionBenchmarks",
            dependencies: [
                "AppendingExtension", .product(name: "MigrationHosting", package: "migration"),
            ],
            swiftSettings: settings
        ),
    ]
)
