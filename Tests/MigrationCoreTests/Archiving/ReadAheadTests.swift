import Foundation
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ReadAheadTests {
    /// Makes a directory of files of every size around the limit for reading ahead.
    private func makeSource() throws -> Places {
        let places = try Places()
        try (places.source / "many").makeDirectory()
        for number in 0..<400 {
            let file = places.source / "many" / "\(number + 1000)"
            try file.write(VariedTree.noise(number % 9 == 0 ? 30_000 + number * 40 : number))
            try file.setModificationTime(1_700_000_000 + number, number * 1000)
        }
        for number in [1, 77, 200, 390] {
            let link = places.source / "many" / "\(number + 1000)-again"
            try link.makeHardLink(to: places.source / "many" / "\(number + 1000)")
        }
        try (places.source / "many/1100-directory").makeDirectory()
        try (places.source / "many/1100-directory/file").write("inner")
        try (places.source / "many/1150-link").makeSymbolicLink(to: "1149")
        return places
    }

    @Test func `archives a large directory as it is with any number of threads`() async throws {
        let places = try makeSource()
        var archives: Set<Data> = []
        for count in [1, 2, 4] {
            var options = ExportOptions()
            options.threadCount = count
            let report = try await places.exportSource(options: options, replacing: true)
            #expect(report.totals.files == 401)
            #expect(report.totals.hardLinks == 4)
            archives.insert(try places.archive.contents())
        }
        #expect(archives.count == 1)
        try await places.importArchive()
        #expect(
            try places.contents(of: places.destination) == places.contents(of: places.source)
        )
    }

    @Test func `reports what it leaves out of a large directory in its order`() async throws {
        let places = try makeSource()
        var options = ExportOptions()
        options.exclusions = [try PathPattern("10[0-9]5")]
        let report = try await places.exportSource(options: options)
        let names = (0..<10).map { "many/10\($0)5" }
        #expect(report.omissions.items.map(\.path) == names)
        let sizes = stride(from: 5, to: 100, by: 10).map { number in
            number % 9 == 0 ? 30_000 + number * 40 : number
        }
        #expect(report.omissions.items.map(\.bytes) == sizes.map { UInt64($0) })
    }
}
