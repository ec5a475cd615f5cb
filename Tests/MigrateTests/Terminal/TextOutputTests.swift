import Testing

@testable import MigrationReports
@testable import migrate

struct TextOutputTests {
    @Test func `keeps a last line below what is written`() throws {
        let file = try StreamFile(holding: [])
        let output = TextOutput(descriptor: file.descriptor, capacity: 0)
        try output.write("first\n")
        try output.showLastLine("10 %")
        try output.write("second\n")
        try output.showLastLine("20 %")
        try output.showLastLine("")
        try output.write("third\n")
        let erasure = "\r\u{1B}[K"
        let parts = [
            "first\n", "\r10 %\u{1B}[K\r", erasure, "second\n", "\r10 %\u{1B}[K\r",
            "\r20 %\u{1B}[K\r", erasure, "third\n",
        ]
        #expect(String(decoding: try file.bytes(), as: UTF8.self) == parts.joined())
    }
}
