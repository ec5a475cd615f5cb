import AppMigrationKit
import Foundation
import Testing

/// The conformances of the types at run time, if no source shows them.
@Suite struct ConformanceTests {
    private static func conformances(of type: Any.Type) -> Set<String> {
        var names: Set<String> = []
        if type is any Equatable.Type { names.insert("Equatable") }
        if type is any Hashable.Type { names.insert("Hashable") }
        if type is any Comparable.Type { names.insert("Comparable") }
        if type is any Encodable.Type { names.insert("Encodable") }
        if type is any Decodable.Type { names.insert("Decodable") }
        if type is any RawRepresentable.Type { names.insert("RawRepresentable") }
        if type is any CaseIterable.Type { names.insert("CaseIterable") }
        if type is any Identifiable.Type { names.insert("Identifiable") }
        if type is any Error.Type { names.insert("Error") }
        if type is any CustomStringConvertible.Type { names.insert("CustomStringConvertible") }
        if type is any LosslessStringConvertible.Type { names.insert("LosslessStringConvertible") }
        if type is any CodingKeyRepresentable.Type { names.insert("CodingKeyRepresentable") }
        if type is any ExpressibleByStringLiteral.Type {
            names.insert("ExpressibleByStringLiteral")
        }
        if type is any CustomDebugStringConvertible.Type {
            names.insert("CustomDebugStringConvertible")
        }
        return names
    }

    @Test func `are exactly those of Apple's types`() {
        let name: Set = ["RawRepresentable", "Equatable", "Hashable", "Encodable", "Decodable"]
        #expect(Self.conformances(of: MigrationPlatform.self) == name)
        #expect(Self.conformances(of: MigrationAppIdentifier.StoreIdentifier.self) == name)
        #expect(Self.conformances(of: MigrationAppIdentifier.self) == ["Encodable", "Decodable"])
        #expect(
            Self.conformances(of: MigrationDefaultSupportedOptions.self)
                == ["RawRepresentable", "Equatable", "Hashable", "CaseIterable"]
        )
        #expect(Self.conformances(of: ResourcesArchiver.self).isEmpty)
        #expect(Self.conformances(of: MigrationDataContainer.self).isEmpty)
        #expect(Self.conformances(of: ResourcesImportRequest.self).isEmpty)
        #expect(Self.conformances(of: MigrationRequest.self).isEmpty)
        #expect(Self.conformances(of: MigrationRequestWithOptions<NotesOption>.self).isEmpty)
        #expect(Self.conformances(of: MigrationStatus.self).isEmpty)
    }

    @Test func `names raw values and collections by these types`() {
        #expect(MigrationPlatform.RawValue.self == String.self)
        #expect(MigrationAppIdentifier.StoreIdentifier.RawValue.self == String.self)
        #expect(MigrationDefaultSupportedOptions.RawValue.self == String.self)
        let all = [MigrationDefaultSupportedOptions].self
        #expect(MigrationDefaultSupportedOptions.AllCases.self == all)
        #expect(
            MigrationRequest.self
                == MigrationRequestWithOptions<MigrationDefaultSupportedOptions>.self
        )
    }

    @Test func `lets values that may be sent be sent`() {
        func send<Value: Sendable>(_ type: Value.Type) {}
        send(MigrationDataContainer.self)
        send(MigrationPlatform.self)
        send(MigrationAppIdentifier.self)
        send(MigrationAppIdentifier.StoreIdentifier.self)
        send(ResourcesImportRequest.self)
        send(MigrationRequest.self)
        send(MigrationRequestWithOptions<NotesOption>.self)
        send(MigrationDefaultSupportedOptions.self)
        send((any AppMigrationExtension).self)
    }
}
