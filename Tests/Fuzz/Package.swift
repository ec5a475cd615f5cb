// swift-tools-version: 6.3

import PackageDescription

// Builds only through Scripts/fuzz: libFuzzer provides the main function, and the fuzzed code is
// reached with @testable.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let core = Target.Dependency.product(name: "MigrationCore", package: "migration")
let hosting = Target.Dependency.product(name: "MigrationHosting", package: "migration")
let android = Target.Dependency.product(name: "AndroidMigration", package: "migration")
let iPhone = Target.Dependency.product(name: "IPhoneBackups", package: "migration")
let names = [
    "FuzzFile", "FuzzPipe", "FuzzTar", "FuzzExtraction", "FuzzSession", "FuzzEntitlement",
    "FuzzBookkeeping", "FuzzEncryption", "FuzzRules", "FuzzBackup", "FuzzStream", "FuzzIndex",
    "FuzzTrailer", "FuzzKeybag", "FuzzMbdb", "FuzzManifest", "FuzzMbfile",
]

let package = Package(
    name: "migration-fuzz",
    products: names.map { .executable(name: $0, targets: [$0]) },
    dependencies: [
        // The name makes it work whatever directory the repository was cloned into.
        .package(name: "migration", path: "../..")
    ],
    targets: [
        .target(
            name: "FuzzSupport",
            dependencies: [android, core, hosting, iPhone],
            swiftSettings: settings
        )
    ]
        + names.map {
            .executableTarget(
                name: $0,
                dependencies: ["FuzzSupport", core],
                swiftSettings: settings
            )
        }
)
