// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "archiver",
    products: [
        .executable(name: "archiver", targets: ["Archiver"])
    ],
    dependencies: [
        // The name makes it work whatever directory the repository was cloned into.
        .package(name: "migration", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Archiver",
            dependencies: [.product(name: "MigrationCore", package: "migration")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        )
    ]
)
