import AppMigrationTesting
import Foundation
import MigrationHosting
import Testing

/// The two methods that export, and the options of a destination.
@Suite(.migration(of: PictureExporter.self))
struct TesterOptionTests {
    private func request(of result: AppMigrationTester.ResourcesExportResult) -> String? {
        ContainerUnderTest.text(at: result.extractedResourcesURL.appending(path: "request.txt"))
    }

    @Test
    func `another option type picks the generic method, which hands the options on`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let wanted = MigrationRequestWithOptions<PictureOption>(
            destinationPlatform: MigrationPlatform("tizen"),
            options: [.quality: Data("high".utf8), .format: Data("webp".utf8)]
        )
        let result = try await tester.exportController.exportResources(request: wanted)
        #expect(request(of: result) == "tizen\nformat=webp\nquality=high")
    }

    @Test
    func `no arguments, nil and a plain request pick the plain method`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let controller = try await tester.exportController
        // With only the generic method, these two would not say which options they mean.
        #expect(request(of: try await controller.exportResources()) == "android")
        #expect(request(of: try await controller.exportResources(request: nil)) == "android")
        let plain = MigrationRequest(destinationPlatform: .iOS)
        #expect(request(of: try await controller.exportResources(request: plain)) == "iOS")
    }

    @Test
    func `decision: no request of another option type has no options`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let none: MigrationRequestWithOptions<PictureOption>? = nil
        let result = try await tester.exportController.exportResources(request: none)
        #expect(request(of: result) == "android")
    }

    @Test(arguments: [[:], [SoundOption.rate: Data("44100".utf8)]])
    func `decision: an option type that is not the extension's is refused by name`(
        _ options: [SoundOption: Data]
    ) async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let wanted = MigrationRequestWithOptions<SoundOption>(
            destinationPlatform: .android,
            options: options
        )
        let error = await #expect(throws: MigrationError.self) {
            try await tester.exportController.exportResources(request: wanted)
        }
        #expect(error?.code == .extensionUnsuitable)
        let message = try #require(error?.message)
        #expect(message.contains("does not conform to ResourcesExportingWithOptions"))
        #expect(message.contains("SoundOption"))
        #expect(message.contains("'rate'"))
    }
}
