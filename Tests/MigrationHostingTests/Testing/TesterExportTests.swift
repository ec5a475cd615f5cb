import AppMigrationTesting
import Foundation
import MigrationHosting
import Testing

@testable import ProfileMigration

/// Exports of the tester, by the rules that they keep.
@Suite(.migration(of: ProfileMigration.self))
struct TesterExportTests {
    private let tested: ContainerUnderTest

    init() throws {
        tested = try ContainerUnderTest()
        try tested.fill()
    }

    private func text(of name: String, in result: AppMigrationTester.ResourcesExportResult)
        -> String?
    {
        ContainerUnderTest.text(at: result.extractedResourcesURL.appending(path: name))
    }

    @Test
    func `rule 29: runs the extension's own code`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        // No other exporter has this file.
        #expect(text(of: "request.txt", in: result) != nil)
    }

    @Test
    func `rule 31: returns a directory with the extracted resources`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        let names = try FileManager.default.contentsOfDirectory(
            atPath: result.extractedResourcesURL.path
        )
        #expect(names.sorted() == ["Documents", "request.txt"])
        #expect(text(of: "Documents/Notes/first.txt", in: result) == "Notes")
        #expect(text(of: "Documents/profile.txt", in: result) == tested.text(of: "profile.txt"))
        #expect(await tester.findings == [])
    }

    @Test
    func `rule 31: a request of nil is for the tester's platform`() async throws {
        let tester = try await AppMigrationTester(platform: MigrationPlatform("tizen"))
        let result = try await tester.exportController.exportResources()
        #expect(text(of: "request.txt", in: result) == "platform=tizen")
    }

    @Test
    func `rule 31: a request's own platform is what the extension is told`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let request = MigrationRequest(destinationPlatform: MigrationPlatform("tizen"))
        let result = try await tester.exportController.exportResources(request: request)
        #expect(text(of: "request.txt", in: result) == "platform=tizen")
    }

    @Test
    func `rule 31: the progress ends complete`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 3)
        let result = try await tester.exportController.exportResources(progress: progress)
        #expect(progress.isFinished)
        #expect(progress.totalUnitCount == 15_005 + Int64("platform=android".utf8.count))
        #expect(progress.totalUnitCount < result.exportProperties.uncompressedBytes)
    }

    @Test
    func `rule 32: says how much was exported, and what the extension said`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let properties = try await tester.exportController.exportResources().exportProperties
        let noted = "platform=android".utf8.count
        #expect((15_005 + noted..<30_000).contains(properties.uncompressedBytes))
        let compressed = try #require(properties.compressedBytes)
        #expect((1..<15_000).contains(compressed))
        #expect(properties.sizeEstimate == 15_005)
        #expect(properties.version == "2.0")
    }

    @Test(.migration(of: StoringExporter.self))
    func `rule 32: compressed bytes are nil where the extension asks for none`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let properties = try await tester.exportController.exportResources().exportProperties
        #expect(properties.compressedBytes == nil)
        #expect((15_005..<30_000).contains(properties.uncompressedBytes))
        #expect(properties.sizeEstimate == 1_000)
        #expect(properties.version == "5")
        #expect(await tester.findings.map(\.code) == [.estimateOff])
    }

    @Test(.migration(of: PhotoExporter.self))
    func `rule 32: photos that can't be compressed count no more than before`() async throws {
        let photos = tested.container.documentsDirectory
        var generator = SystemRandomNumberGenerator()
        // More than one piece of the stream, and one that holds little.
        for number in 1...10 {
            let words = (0..<65_000).map { _ in generator.next() as UInt64 }
            let photo = words.withUnsafeBytes { Data($0) }
            try photo.write(to: photos.appending(path: "photo-\(number).jpg"))
        }
        let tester = try await AppMigrationTester(platform: .android)
        let properties = try await tester.exportController.exportResources().exportProperties
        let compressed = try #require(properties.compressedBytes)
        #expect(properties.uncompressedBytes > 5_200_000)
        #expect((5_200_000...properties.uncompressedBytes).contains(compressed))
    }

    @Test
    func `decision: the resources last while a tester or a result does`() async throws {
        var tester: AppMigrationTester? = try await AppMigrationTester(platform: .android)
        let first = try await tester?.exportController.exportResources()
        let second = try await tester?.exportController.exportResources()
        tester = nil
        let urls = try [#require(first), #require(second)].map(\.extractedResourcesURL)
        #expect(Set(urls).count == 2)
        for url in urls { #expect(FileManager.default.fileExists(atPath: url.path)) }
        let parent = urls[0].deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).count == 2)
    }

    @Test
    func `leaves the container as it was`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        _ = try await tester.exportController.exportResources()
        _ = try await tester.exportController.exportResources()
        #expect(tested.text(of: "Notes/first.txt") == "Notes")
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test(.migration(of: VersionImporter.self))
    func `decision: an extension that does not export is told the conformance`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let error = await #expect(throws: MigrationError.self) {
            try await tester.exportController.exportResources()
        }
        #expect(error?.code == .extensionUnsuitable)
        #expect(error?.message == "VersionImporter does not conform to ResourcesExporting")
    }

    @Test
    func `lets the cancellation of a rehearsal pass`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        #expect(try await tester.rehearseCancellation() == [])
    }

    @Test(.migration(of: SwallowingExporter.self))
    func `finds a swallowed cancellation by rehearsing one`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let findings = try await tester.rehearseCancellation()
        #expect(findings.map(\.code) == [.cancellationSwallowed])
    }

    @Test(.migration(of: VersionImporter.self))
    func `rehearses no cancellation of an export that there is none of`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let error = await #expect(throws: MigrationError.self) {
            try await tester.rehearseCancellation()
        }
        #expect(error?.code == .extensionUnsuitable)
    }
}
