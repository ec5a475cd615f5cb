import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct AbsurdSizeTests {
    /// A header of 9,223,372,036,854,775,807 bytes, the largest number in base 256.
    @Test(arguments: [TypeFlag.gnuLongName, TypeFlag.gnuLongLink, TypeFlag.extendedHeader])
    func `refuses a second header of the largest size there is`(_ flag: UInt8) throws {
        var tar: [UInt8] = []
        tar.append(block: Self.header("name", size: 2, flag: TypeFlag.gnuLongName))
        tar += [UInt8](repeating: UInt8(ascii: "n"), count: 2)
        tar += [UInt8](repeating: 0, count: 510)
        tar.append(block: Self.withLargestSize(Self.header("x", size: 0, flag: flag)))
        let error = #expect(throws: ArchiveError.self) { try read(tar) }
        #expect(error?.code == .damaged)
    }

    @Test func `refuses sparse files that hold more bytes together than can be counted`() throws {
        let file = try sparseFile("9223372036854775807")
        let end = [UInt8](repeating: 0, count: 1024)
        #expect(try read(file + end) == 1)
        let error = #expect(throws: ArchiveError.self) { try read(file + file + file + end) }
        #expect(error?.code == .refused)
    }

    private func read(_ tar: [UInt8]) throws -> Int {
        let path = try BytePath.scratch / BytePath([UInt8]("tar".utf8))
        try path.write(Data(tar))
        let input = try ArchiveInput(
            reading: FileDescriptor.open(path, .reading),
            on: MigrationOperation()
        )
        let reader = try ArchiveReader(input, access: .selective)
        var totals = ArchiveTotals()
        while let entry = try reader.next() { totals.count(entry) }
        return Int(totals.files)
    }

    /// A sparse file of form 0.1 that stores nothing.
    private func sparseFile(_ size: String) throws -> [UInt8] {
        var records = PaxRecords()
        records.append(key: "GNU.sparse.map", value: [UInt8]("0,0".utf8))
        records.append(key: "GNU.sparse.size", value: [UInt8](size.utf8))
        var tar: [UInt8] = []
        let encoder = TarEntryEncoder()
        encoder.encodeExtended(records, typeFlag: TypeFlag.extendedHeader, to: &tar)
        tar.append(block: Self.header("sparse", size: 0, flag: TypeFlag.regular))
        return tar
    }

    private static func header(_ name: String, size: UInt64, flag: UInt8) -> UstarBlock {
        UstarBlock(
            name: [UInt8](name.utf8)[...],
            prefix: [],
            permissions: 0o644,
            size: size,
            modificationTime: 0,
            typeFlag: flag,
            linkName: []
        )
    }

    private static func withLargestSize(_ block: UstarBlock) -> UstarBlock {
        var block = block
        let field = UstarBlock.Field.size
        for index in field { block.bytes[index] = 0xFF }
        for index in field.prefix(4) { block.bytes[index] = index == field.lowerBound ? 0x80 : 0 }
        block.bytes[field.lowerBound + 4] = 0x7F
        let checksum = [UInt8](String(block.checksum, radix: 8).utf8)
        for (index, byte) in checksum.enumerated() {
            block.bytes[UstarBlock.Field.checksum.lowerBound + index] = byte
        }
        block.bytes[UstarBlock.Field.checksum.lowerBound + checksum.count] = 0
        return block
    }
}
