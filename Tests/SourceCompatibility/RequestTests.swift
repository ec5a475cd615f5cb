import AppMigrationKit
import Foundation
import Testing

@Suite struct RequestTests {
    @Test func `makes a request without options`() {
        let request = MigrationRequest(destinationPlatform: .android)
        #expect(request.destinationPlatform == .android)
        #expect(request.options.isEmpty)
        #expect(MigrationRequest(destinationPlatform: .android, options: [:]).options.isEmpty)
        let other = MigrationRequestWithOptions<NotesOption>(destinationPlatform: .android)
        #expect(other.options.isEmpty)
    }

    @Test func `makes a request with options`() {
        let options: [NotesOption: Data] = [.account: Data("me".utf8)]
        let request = MigrationRequestWithOptions(destinationPlatform: .android, options: options)
        #expect(request.options == options)
        #expect(request.options[.language] == nil)
    }

    @Test func `rule 26: is made by initializers of exactly these types`() {
        let makeRequest:
            (MigrationPlatform, [NotesOption: Data]) -> MigrationRequestWithOptions<NotesOption> =
                MigrationRequestWithOptions.init(destinationPlatform:options:)
        let makeImport: (MigrationAppIdentifier, String) -> ResourcesImportRequest =
            ResourcesImportRequest.init(sourceAppIdentifier:sourceVersion:)
        let makePlatform: [(String) -> MigrationPlatform] = [
            MigrationPlatform.init(rawValue:), MigrationPlatform.init(_:),
        ]
        let makeStore: [(String) -> MigrationAppIdentifier.StoreIdentifier] = [
            MigrationAppIdentifier.StoreIdentifier.init(rawValue:),
            MigrationAppIdentifier.StoreIdentifier.init(_:),
        ]
        let makeOption: (String) -> MigrationDefaultSupportedOptions? =
            MigrationDefaultSupportedOptions.init(rawValue:)
        #expect(makeRequest(.android, [:]).options.isEmpty)
        #expect(makeImport(.sample, "3").sourceVersion == "3")
        #expect(makePlatform.map { $0("web") } == [MigrationPlatform("web"), .init("web")])
        #expect(makeStore.map { $0("shop").rawValue } == ["shop", "shop"])
        #expect(makeOption("account") == nil)
    }

    @Test func `rule 19: has no option by default, and none can be made`() {
        let all = MigrationDefaultSupportedOptions.allCases
        #expect(all.isEmpty)
        #expect(MigrationDefaultSupportedOptions(rawValue: "") == nil)
        #expect(all.map(\.nothing).isEmpty)
    }

    @Test func `names platforms and stores by these strings`() {
        #expect(MigrationPlatform.android.rawValue == "android")
        #expect(MigrationPlatform.iOS.rawValue == "iOS")
        #expect(MigrationPlatform.linux.rawValue == "linux")
        #expect(MigrationAppIdentifier.StoreIdentifier.googlePlay.rawValue == "googlePlay")
        #expect(MigrationAppIdentifier.StoreIdentifier.appStore.rawValue == "appStore")
        #expect(Set([MigrationPlatform("android"), .android]).count == 1)
    }
}

extension MigrationDefaultSupportedOptions {
    /// An option type without cases: the switch is exhaustive without a case.
    fileprivate var nothing: Never {
        switch self {}
    }
}
