import Foundation
import MigrationContract
import TestSupport
import Testing

@testable import MigrationHosting

/// The entitlements as they lie in their file.
@Suite(.scratchDirectory)
struct EntitlementFileTests {
    private func check(
        _ text: String?,
        groups: [String: URL] = [:]
    ) throws -> Entitlement? {
        let file = try BytePath.scratch / "it.entitlements"
        if let text { try file.write(text) }
        let container = try BytePath.scratch / "container"
        if !container.exists { try container.makeDirectory() }
        var hosted = MigrationExtension.executable(at: URL(filePath: "/nonexistent"))
        hosted.entitlements = file.url
        hosted.applicationGroups = groups
        return try Entitlement.check(hosted, for: MigrationDataContainer(atPath: container))
    }

    private func list(_ members: String) -> String {
        """
        <plist><dict><key>\(Entitlement.key)</key><array><string>com.example.a</string></array>
        \(members)</dict></plist>
        """
    }

    @Test func `name the app and its groups`() throws {
        let groups = "<key>\(Entitlement.groupsKey)</key><array><string>group.b</string></array>"
        let entitlement = try check(
            list(groups),
            groups: ["group.b": BytePath.scratch.url]
        )
        #expect(entitlement?.identifier == "com.example.a")
        #expect(entitlement?.applicationGroups == ["group.b"])
        #expect(throws: EntitlementProblem.self) { try check(list(groups)) }
        #expect(throws: EntitlementProblem.self) {
            try check(list(""), groups: ["group.b": BytePath.scratch.url])
        }
    }

    @Test func `say whether the file is missing or can't be read`() throws {
        let error = #expect(throws: EntitlementProblem.self) { try check(nil) }
        guard case .noFile(let path)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path.hasSuffix("it.entitlements"))
        try (BytePath.scratch / "it.entitlements").makeDirectory()
        let unreadable = #expect(throws: MigrationError.self) { try check(nil) }
        #expect(unreadable?.code == .entitlementInvalid)
    }

    @Test(arguments: [
        "", "text", "<plist><array/></plist>", "<plist><dict><key>a</key></dict></plist>",
    ])
    func `are a property list with a dictionary`(_ text: String) {
        let error = #expect(throws: MigrationError.self) { try check(text) }
        #expect(error?.message.contains("not a property list") == true)
    }

    @Test(arguments: [
        "<string>group.b</string>", "<array><string/></array>", "<array><true/></array>",
    ])
    func `name groups by texts`(_ value: String) {
        #expect(throws: EntitlementProblem.self) {
            try check(list("<key>\(Entitlement.groupsKey)</key>\(value)"))
        }
    }
}
