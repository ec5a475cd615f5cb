import Foundation
import MigrationContract
import TestSupport
import Testing

/// A container found by its path.
@Suite(.scratchDirectory)
struct DataContainerTests {
    private static let metadata: BytePath = ".com.apple.mobile_container_manager.metadata.plist"

    private func propertyList(_ values: [String: String]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    }

    private func makeBundle() throws -> BytePath {
        let bundle = try BytePath.scratch / "app.xcappdata"
        try bundle.makeDirectory()
        try (bundle / "AppData").makeDirectory()
        try (bundle / "AppData/Documents").makeDirectory()
        try (bundle / "AppData/Documents/note").write("note")
        let list = try propertyList(["CFBundleIdentifier": "com.example.bundle"])
        try (bundle / "AppDataInfo.plist").write(list)
        return bundle
    }

    @Test func `takes the directory's name where nothing says the identifier`() throws {
        let places = try Places()
        let container = try MigrationDataContainer(atPath: places.source)
        #expect(container.bundleIdentifier == "source")
        let root = try #require(ScratchDirectory.current).appending(path: "source")
        #expect(container.containerRootDirectory.path == root.path)
        #expect(container.documentsDirectory.path == root.appending(path: "Documents").path)
        let support = root.appending(path: "Library/Application Support")
        #expect(container.applicationSupportDirectory.path == support.path)
    }

    @Test func `takes the identifier that it is given before any other`() throws {
        let bundle = try makeBundle()
        let container = try MigrationDataContainer(atPath: bundle, bundleIdentifier: "mine")
        #expect(container.bundleIdentifier == "mine")
    }

    @Test(arguments: ["", "/", "//", "/.", "/../source"])
    func `finds the same container with more in its path`(_ suffix: String) throws {
        let places = try Places()
        let path = BytePath(places.source.text + suffix)
        let container = try MigrationDataContainer(atPath: path)
        #expect(container.bundleIdentifier == "source")
        #expect(container.rootPath == places.source)
    }

    @Test func `refuses metadata that is damaged`() throws {
        let places = try Places()
        try (places.source / Self.metadata).write("no list")
        let error = #expect(throws: MigrationError.self) {
            try MigrationDataContainer(atPath: places.source)
        }
        #expect(error?.code == .containerInvalid)
    }

    @Test func `knows a bundle from a directory that is named AppData`() throws {
        let bundle = try makeBundle()
        for path in [bundle, bundle / "AppData"] {
            let container = try MigrationDataContainer(atPath: path)
            #expect(container.place.isBundle && container.place.path == bundle)
            #expect(container.rootPath == bundle / "AppData")
        }
        let alone = try BytePath.scratch / "AppData"
        try alone.makeDirectory()
        let container = try MigrationDataContainer(atPath: alone)
        #expect(!container.place.isBundle && container.place.path == alone)
        // By its property list, whatever its name is.
        let renamed = try BytePath.scratch / "renamed"
        try bundle.rename(to: renamed)
        #expect(try MigrationDataContainer(atPath: renamed / "AppData").place.path == renamed)
        try (renamed / "AppDataInfo.plist").removeFile()
        #expect(try !MigrationDataContainer(atPath: renamed).place.isBundle)
    }

    @Test func `refuses bookkeeping in the container of a bundle`() throws {
        let bundle = try makeBundle()
        try (bundle / "AppData/.migration").makeDirectory()
        let error = #expect(throws: MigrationError.self) {
            try MigrationDataContainer(atPath: bundle)
        }
        #expect(error?.code == .containerInvalid)
        #expect(error?.message.contains("move it beside 'AppData'") == true)
    }
}
