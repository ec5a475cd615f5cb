import Foundation
import MigrationCore
import TestSupport
import Testing

@testable import MigrationReports

/// A page or a log beside an answer.
@Suite(.scratchDirectory)
struct PageFileTests {
    private let place: BytePath

    init() throws {
        place = try BytePath.scratch / "page"
    }

    private func failure(_ path: BytePath, replacing: Bool = false) -> MigrationError? {
        #expect(throws: MigrationError.self) {
            try PageFile(at: path, replacesExisting: replacing).write("text")
        }
    }

    @Test func `appears whole, and replaces only what it may`() throws {
        let file = try PageFile(at: place, replacesExisting: false)
        #expect(!place.exists)
        try file.write("text")
        #expect(try place.contents() == Data("text".utf8))
        let error = failure(place)
        #expect(error?.code == .outputExists && error?.message == "the file exists already")
        try PageFile(at: place, replacesExisting: true).write("other")
        #expect(try place.contents() == Data("other".utf8))
        #expect(try place.parent.names() == ["page"])
    }

    @Test func `replaces the file that a link leads to`() throws {
        try place.write("old")
        let link = place.parent / "link"
        try link.makeSymbolicLink(to: "page")
        try PageFile(at: link, replacesExisting: true).write("new")
        #expect(try place.contents() == Data("new".utf8))
    }

    @Test func `says why it can't be written`() throws {
        try place.makeDirectory()
        let error = failure(place, replacing: true)
        #expect(error?.code == .outputExists)
        #expect(error?.message.contains("isn't a regular file") == true)
        let lost = failure(place / "missing/page")
        #expect(lost?.code == .outputFailed && lost?.message == "the file can't be written")
        let named = #expect(throws: MigrationError.self) {
            try PageFile(at: place / "missing/page", named: "--html", replacesExisting: false)
        }
        #expect(named?.message == "the directory of --html can't be used")
    }
}
