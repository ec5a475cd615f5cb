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
// Apple's systems have their own module of this name.
let extensionSupport: [Target.Dependency] = ["ExtensionFoundation"]
let extensionPrograms: [Target.Dependency] = ["scripted-extension"]
let testedExtension: [Target.Dependency] = [
    "AppMigrationKit", "AppMigrationTesting", "ExtensionFoundation", "ProfileMigration",
]
#else
let extensionSupport: [Target.Dependency] = []
let extensionPrograms: [Target.Dependency] = []
let testedExtension: [Target.Dependency] = []
#endif

let package = Package(
    name: "migration",
    products: [
        .library(name: "MigrationCore", targets: ["MigrationCore"]),
        // The engine, with what hosts and tests an app's extension.
        .library(name: "MigrationHosting", targets: ["MigrationHosting"]),
        // For an app that only asks how its import ended: it links neither zstd nor libcrypto.
        .library(name: "MigrationStatus", targets: ["MigrationStatus"]),
        .library(name: "AndroidMigration", targets: ["AndroidMigration"]),
        // Nothing in it is public; the package Tests/Fuzz reaches it.
        .library(name: "IPhoneBackups", targets: ["IPhoneBackups"]),
        .library(name: "StoreMigration", targets: ["StoreMigration"]),
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
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "CLibcrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CExpat",
            pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"]), .brew(["expat"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(name: "CMigrationShims"),
        .target(
            name: "MigrationSystem",
            dependencies: ["CMigrationShims"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationArchive",
            dependencies: ["CLibcrypto", "CXXHash", "CZlib", "CZstd", "MigrationSystem"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "PropertyLists",
            dependencies: ["CExpat"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationContract",
            dependencies: ["MigrationSystem", "PropertyLists"] + extensionSupport,
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationConversation",
            dependencies: ["MigrationArchive", "MigrationContract", "MigrationSystem"]
                + extensionSupport,
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationContainers",
            dependencies: ["MigrationContract", "MigrationSystem", "PropertyLists"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationStatus",
            dependencies: ["MigrationContainers", "MigrationContract"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationCore",
            dependencies: [
                "MigrationArchive", "MigrationContainers", "MigrationContract", "MigrationSystem",
            ],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationHosting",
            dependencies: [
                "MigrationArchive", "MigrationContainers", "MigrationContract",
                "MigrationConversation", "MigrationCore", "MigrationSystem", "PropertyLists",
            ],
            swiftSettings: librarySettings
        ),
        // Separate from the modules that apps link, because it needs Swift Testing.
        .target(
            name: "AppMigrationTesting",
            dependencies: ["MigrationHosting", "MigrationSystem"] + extensionSupport,
            swiftSettings: librarySettings
        ),
        .target(
            name: "AndroidMigration",
            dependencies: [
                "CExpat", "CLibcrypto", "CZlib", "MigrationArchive", "MigrationCore",
                "MigrationSystem",
            ],
            swiftSettings: librarySettings
        ),
        .target(
            name: "IPhoneBackups",
            dependencies: [
                "CLibcrypto", "CSQLite", "MigrationArchive", "MigrationCore", "MigrationSystem",
                "PropertyLists",
            ],
            swiftSettings: librarySettings
        ),
        .target(
            name: "StoreMigration",
            dependencies: ["CSQLite", "MigrationSystem", "PropertyLists"],
            swiftSettings: librarySettings
        ),
        .target(
            name: "MigrationReports",
            dependencies: [
                "AndroidMigration", "IPhoneBackups", "MigrationArchive", "MigrationCore",
                "MigrationHosting", "MigrationSystem", "StoreMigration",
            ],
            resources: [.embedInCode("Page/style.css"), .embedInCode("Page/script.js")],
            swiftSettings: librarySettings
        ),
        .executableTarget(
            name: "migrate",
            dependencies: [
                "AndroidMigration", "IPhoneBackups", "MigrationArchive", "MigrationCore",
                "MigrationHosting", "MigrationReports", "MigrationSystem", "StoreMigration",
            ],
            exclude: ["Schemas"],
            resources: [.embedInCode("Manual/migrate-archive.5")],
            swiftSettings: settings
        ),
        // Trees and paths for tests and for programs. A statically linked program has no Swift
        // Testing.
        .target(
            name: "TestTrees",
            dependencies: ["MigrationSystem"],
            path: "Tests/Trees",
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["TestTrees"],
            path: "Tests/Support",
            swiftSettings: settings
        ),
        .executableTarget(name: "CallProbe", path: "Tests/CallProbe"),
        .executableTarget(name: "FaultInjector", path: "Tests/FaultInjector"),
        .executableTarget(
            name: "store-plan",
            dependencies: ["CSQLite", "StoreMigration"],
            path: "Tests/Fixtures/StorePlan",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "compare-trees",
            dependencies: ["TestTrees"],
            path: "Tests/CompareTrees",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Proofs",
            dependencies: ["TestTrees"],
            path: "Tests/Proofs",
            exclude: ["allocations.c", "inferences.py", "store_files.py", "stores.py"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationSystemTests",
            dependencies: ["CallProbe", "MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PropertyListsTests",
            dependencies: ["PropertyLists"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationArchiveTests",
            dependencies: ["CZlib", "CZstd", "MigrationArchive", "MigrationSystem", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationContractTests",
            dependencies: ["MigrationContract", "MigrationSystem", "TestSupport"]
                + extensionSupport,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StatusReader",
            dependencies: ["MigrationStatus"],
            path: "Tests/Fixtures/StatusReader",
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationContainersTests",
            dependencies: [
                "MigrationContainers", "MigrationContract", "MigrationSystem", "StatusReader",
                "TestSupport",
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationConversationTests",
            dependencies: [
                "MigrationArchive", "MigrationContract", "MigrationConversation", "MigrationSystem",
                "TestSupport",
            ] + extensionPrograms,
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationCoreTests",
            dependencies: [
                "FaultInjector", "MigrationArchive", "MigrationContainers", "MigrationContract",
                "MigrationCore", "MigrationSystem", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationHostingTests",
            dependencies: [
                "MigrationContract", "MigrationConversation", "MigrationCore", "MigrationHosting",
                "MigrationSystem", "TestSupport",
            ] + testedExtension,
            swiftSettings: settings
        ),
        .testTarget(
            name: "AndroidMigrationTests",
            dependencies: [
                "AndroidMigration", "MigrationArchive", "MigrationCore", "MigrationSystem",
                "TestSupport", "migrate",
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IPhoneBackupsTests",
            dependencies: [
                "IPhoneBackups", "MigrationArchive", "MigrationCore", "MigrationSystem",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "StoreMigrationTests",
            dependencies: [
                "CSQLite", "FaultInjector", "StoreMigration", "TestSupport", "store-plan",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationTestingTests",
            dependencies: ["MigrationHosting", "MigrationSystem"] + testedExtension,
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationReportsTests",
            dependencies: [
                "MigrationArchive", "MigrationCore", "MigrationHosting", "MigrationReports",
                "MigrationSystem", "TestSupport",
            ],
            exclude: ["Snapshots"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrateTests",
            dependencies: [
                "AndroidMigration", "IPhoneBackups", "MigrationArchive", "MigrationContainers",
                "MigrationCore", "MigrationHosting", "MigrationReports", "MigrationSystem",
                "PropertyLists", "StoreMigration", "TestSupport", "migrate", "store-plan",
            ] + extensionPrograms,
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
        dependencies: ["MigrationContract", "MigrationConversation", "MigrationHosting"],
        swiftSettings: librarySettings
    ),
    // Targets that stand for an app's source have the settings of a new package: none.
    .executableTarget(
        name: "MinimalExtension",
        dependencies: ["AppMigrationKit"],
        path: "Tests/Fixtures/MinimalExtension"
    ),
    .executableTarget(
        name: "MemberVisibilityExtension",
        dependencies: ["AppMigrationKit", "ExtensionFoundation"],
        path: "Tests/Fixtures/MemberVisibilityExtension",
        swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]
    ),
    .target(
        name: "ScriptedExtension",
        dependencies: ["AppMigrationKit", "ExtensionFoundation"],
        path: "Tests/ScriptedExtension",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "scripted-extension",
        dependencies: ["AppMigrationKit", "ExtensionFoundation", "ScriptedExtension"],
        path: "Tests/Fixtures/ScriptedExtensionProgram",
        swiftSettings: settings
    ),
    .testTarget(
        name: "ExtensionTests",
        dependencies: [
            "AppMigrationKit", "ExtensionFoundation", "MigrationArchive", "MigrationCore",
            "MigrationHosting", "MigrationSystem", "ScriptedExtension", "TestSupport",
            "scripted-extension",
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "SourceCompatibilityTests",
        dependencies: ["AppMigrationKit", "ExtensionFoundation"],
        path: "Tests/SourceCompatibility"
    ),
    .executableTarget(
        name: "ProfileMigration",
        dependencies: ["AppMigrationKit", "ExtensionFoundation"],
        path: "Tests/Fixtures/ProfileMigration",
        swiftSettings: settings
    ),
]
#endif
