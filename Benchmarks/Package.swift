// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "benchmarks",
    products: [
        .executable(name: "migration-benchmarks", targets: ["MigrationBenchmarks"])
    ],
    targets: [
        .executableTarget(
            name: "MigrationBenchmarks",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InferIsolatedConformances"),
                .enableUpcomingFeature("ImmutableWeakCaptures"),
            ]
        )
    ]
)
