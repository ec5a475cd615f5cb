import Foundation
@testable import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct LinkedLibrariesTests {
    private let scratch: BytePath

    init() throws {
        scratch = try BytePath.scratch
        try (scratch / "lib").makeDirectory()
    }

    private func libraries() throws -> [BytePath] {
        try LinkedLibraries(of: scratch / "program").paths.sorted()
    }

    @Test(arguments: ["$ORIGIN/lib", "${ORIGIN}/lib", "/nowhere:$ORIGIN/lib"])
    func `finds the libraries of libraries on the search path`(_ path: String) throws {
        try (scratch / "program").write(image(needing: ["one.so", "libc.so.6"], path: path))
        try (scratch / "lib/one.so").write(image(needing: ["two.so"], path: "$ORIGIN"))
        try (scratch / "lib/two.so").write(image(needing: ["one.so"], path: ""))
        try (scratch / "lib/three.so").write(image(needing: [], path: ""))
        #expect(try libraries() == [scratch / "lib/one.so", scratch / "lib/two.so"])
    }

    @Test func `finds what a library named first needs in a directory named last`() throws {
        try (scratch / "more").makeDirectory()
        try (scratch / "program").write(image(needing: ["one.so", "two.so"], path: "$ORIGIN/lib"))
        try (scratch / "lib/one.so").write(image(needing: ["three.so"], path: ""))
        try (scratch / "lib/two.so").write(image(needing: [], path: "$ORIGIN/../more"))
        try (scratch / "more/three.so").write(image(needing: [], path: ""))
        #expect(try libraries().contains(scratch / "lib/../more/three.so"))
    }

    @Test func `finds no file that is no library, whoever names it`() throws {
        let secret = String(decoding: (scratch / "lib/secret").bytes, as: UTF8.self)
        try (scratch / "lib/secret").write("secret")
        try (scratch / "lib/fifo").makeFIFO()
        let names = ["secret", "fifo", secret, "../lib/secret", ".", ""]
        try (scratch / "program").write(image(needing: names, path: "$ORIGIN/lib"))
        #expect(try libraries() == [])
    }

    @Test(arguments: [UInt16(0), 1, 2, 4])
    func `finds no ELF that is no library, such as what is left of a crash`(
        _ type: UInt16
    ) throws {
        let core = String(decoding: (scratch / "lib/core").bytes, as: UTF8.self)
        try (scratch / "lib/core").write(image(needing: [], path: "", type: type))
        try (scratch / "program").write(image(needing: ["core", core], path: "$ORIGIN/lib"))
        #expect(try libraries() == [])
    }

    @Test func `reads no table of segments of odd size`() throws {
        var program = image(needing: ["one.so"], path: "$ORIGIN/lib")
        try (scratch / "lib/one.so").write(image(needing: [], path: ""))
        program.replaceSubrange(54..<58, with: [0xFF, 0xFF, 0xFF, 0xFF])
        try (scratch / "program").write(program)
        try (scratch / "program").truncate(to: 65_535 * 65_535 + 64)
        #expect(try libraries() == [])
    }

    @Test func `finds nothing in a program that is no ELF`() throws {
        try (scratch / "program").write("#!/bin/sh\n")
        #expect(try libraries() == [])
    }

    @Test func `finds the named library or none in a program with any damage`() throws {
        let whole = image(needing: ["one.so"], path: "$ORIGIN/lib")
        let library = scratch / "lib/one.so"
        try library.write(whole)
        try (scratch / "lib/two.so").write(whole)
        try (scratch / "program").write(whole)
        #expect(try libraries() == [library])
        for index in whole.indices {
            try (scratch / "program").write(whole[..<index])
            #expect(try libraries().allSatisfy { $0 == library }, "cut at \(index)")
            var damaged = whole
            damaged[index] ^= 0xFF
            try (scratch / "program").write(damaged)
            #expect(try libraries().allSatisfy { $0 == library }, "damaged at \(index)")
        }
    }

    /// The smallest ELF image that names libraries and where to look for them.
    private func image(needing names: [String], path: String, type: UInt16 = 3) -> Data {
        var strings = Data([0])
        var entries: [(UInt64, UInt64)] = [(5, 0x1000)]
        for (tag, string) in names.map({ (UInt64(1), $0) }) + [(UInt64(29), path)] {
            entries.append((tag, UInt64(strings.count)))
            strings += Data(string.utf8) + [0]
        }
        entries.append((0, 0))
        let dynamic = UInt64(64 + 2 * 56)
        let size = UInt64(entries.count * 16)
        var data = Data([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]) + Data(count: 9)
        data += bytes(type) + Data(count: 14)
        data += bytes(UInt64(64)) + Data(count: 14) + bytes(UInt16(56)) + bytes(UInt16(2))
        data += Data(count: 6)
        data += segment(type: 1, at: dynamic + size, address: 0x1000, size: UInt64(strings.count))
        data += segment(type: 2, at: dynamic, address: 0, size: size)
        for (tag, value) in entries { data += bytes(tag) + bytes(value) }
        return data + strings
    }

    private func segment(type: UInt32, at offset: UInt64, address: UInt64, size: UInt64) -> Data {
        bytes(type) + Data(count: 4) + bytes(offset) + bytes(address) + bytes(address)
            + bytes(size) + bytes(size) + bytes(UInt64(0))
    }

    private func bytes(_ value: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }
}
