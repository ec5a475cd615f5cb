import Foundation
import TestSupport
import Testing

/// Times that the destination's file system may not be able to hold, such as 1754 and 2500 on ext4.
@Suite(.scratchDirectoryOnDisk)
struct StorableTimeTests {
    private let place: Workplace
    /// Whether the file system of the tests holds such times.
    private let holdsTimes: Bool

    init() throws {
        place = try Workplace()
        let tar =
            "import io, tarfile; t = tarfile.open('tar', 'w', format=tarfile.PAX_FORMAT)\n"
            + "for name, time in ('old', -6795364578.5), ('new', 16725225600.25), ('now', 1.7e9):\n"
            + " i = tarfile.TarInfo(name); i.mtime = time; t.addfile(i)\n"
            + "t.close()"
        try place.shell("python3 -c \"\(tar)\"")
        let probe = "touch -d '1754-01-01 UTC' probe; stat -c %y probe | cut -c 1-4; rm probe"
        holdsTimes = try place.shell(probe).output == "1754\n"
    }

    @Test(arguments: ["import tar --container out", "extract tar --to out"])
    func `are counted and named, and kept in the record`(_ words: String) throws {
        let result = try place.shell("\"$migrate\" \(words) --json")
        let text = result.output
        #expect(text.contains("\"modificationTime\"") == !holdsTimes, "\(text)")
        #expect(text.contains("1754-08-30T22:43:41.500000000Z became 19") == !holdsTimes, "\(text)")
        #expect(text.contains("\"count\" : 2") == !holdsTimes, "\(text)")
        guard words.hasPrefix("import") else { return }
        let status = try place.shell("\"$migrate\" status --container out")
        #expect(status.output.contains("2 entries have another") == !holdsTimes, "\(status.output)")
        let json = try place.shell("\"$migrate\" status --container out --json")
        let count = "\"changedTimes\" : \(holdsTimes ? 0 : 2)"
        #expect(json.output.contains(count), "\(json.output)")
    }

    @Test func `are refused on request before anything is staged`() throws {
        for source in ["tar", "- <tar"] {
            let result = try place.shell(
                """
                names() { find c -not -path '*/.migration*'; }
                mkdir -p c/Documents && echo x > c/Documents/x && names > before
                "$migrate" import \(source) --container c --replace --strict; code=$?
                [ $code = 0 ] || names | cmp - before || exit 2
                exit $code
                """
            )
            #expect(result.exitCode == (holdsTimes ? 0 : 1), "\(source): \(result.errors)")
            #expect(result.errors.contains("can't hold the time") == !holdsTimes)
            if holdsTimes { return }
        }
    }
}
