import Foundation
import MigrationSystem
import TestSupport
import Testing

/// The abilities of the temporary directory's file system.
private enum AttributeSupport {
    /// Whether files in the temporary directory may have user attributes.
    static let isThere: Bool = {
        let directory = BytePath(FileManager.default.temporaryDirectory.path)
        let attribute = ExtendedAttribute(name: [UInt8]("user.a".utf8), value: [1])
        do {
            let file = try FileDescriptor.open(directory, .directory).openUnnamed()
            try file.setExtendedAttributes([attribute])
            return true
        } catch {
            return false
        }
    }()
}

@Suite(
    .scratchDirectory,
    .enabled(if: AttributeSupport.isThere, "the file system has no user attributes")
)
struct ExtendedAttributeTests {
    private static let attributes = [
        ExtendedAttribute(name: [UInt8]("user.=%".utf8), value: [0, 0xFF, 0x0A]),
        ExtendedAttribute(name: [UInt8]("user.empty".utf8), value: []),
        ExtendedAttribute(
            name: [UInt8]("user.long".utf8),
            value: [UInt8](repeating: 7, count: 2000)
        ),
        ExtendedAttribute(name: [UInt8]("user.".utf8) + [0xE9], value: [1]),
    ]

    @Test func `reads back names in byte order and any values`() throws {
        let place = try Place()
        try place.makeFile("f")
        try place.directory.makeDirectory([0x64], permissions: 0o700)
        for (name, access) in [([0x66], .reading), ([0x64], .directory)]
            as [([UInt8], FileDescriptor.Access)]
        {
            let file = try place.directory.open(name, access)
            try file.setExtendedAttributes(Self.attributes.reversed())
            let names = try file.extendedAttributeNames()
                .filter { $0.starts(with: [UInt8]("user.".utf8)) }
            #expect(names == Self.attributes.map(\.name))
            for attribute in Self.attributes {
                #expect(try file.extendedAttribute(attribute.name) == attribute.value)
            }
        }
    }

    @Test func `replaces a value`() throws {
        let place = try Place()
        try place.makeFile("f")
        let file = try place.directory.open([0x66], .reading)
        let name = [UInt8]("user.a".utf8)
        try file.setExtendedAttributes([ExtendedAttribute(name: name, value: [1, 2, 3])])
        try file.setExtendedAttributes([ExtendedAttribute(name: name, value: [4])])
        #expect(try file.extendedAttribute(name) == [4])
    }

    @Test func `fails for a name that is missing or in no namespace`() throws {
        let place = try Place()
        try place.makeFile("f")
        let file = OpenFile(try place.directory.open([0x66], .reading))
        let missing = systemError {
            _ = try file.descriptor.extendedAttribute([UInt8]("user.no".utf8))
        }
        #expect(missing?.call == "fgetxattr")
        let attribute = ExtendedAttribute(name: [UInt8]("nowhere".utf8), value: [])
        let refused = systemError { try file.descriptor.setExtendedAttributes([attribute]) }
        #expect(refused?.isUnsupported == true)
    }
}
