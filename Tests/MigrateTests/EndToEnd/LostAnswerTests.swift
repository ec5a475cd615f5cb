import TestSupport
import Testing

/// Commands whose answer nobody reads.
@Suite(.scratchDirectory)
struct LostAnswerTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        try place.export()
    }

    @Test(arguments: [
        "export -c source -o made", "export -c source -o made --json",
        "import archive -c made", "extract archive --to made", "import archive -c made --json",
    ])
    func `work that is done has succeeded, and the loss is said`(_ words: String) throws {
        let result = try place.shell("$migrate \(words) >/dev/full")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.contains("migrate: warning: the answer is lost: "))
        #expect(result.errors.contains("No space left on device"))
        #expect(place.exists("made"))
    }

    @Test func `damage that was passed over still counts`() throws {
        let result = try place.shell(
            """
            head -c 1500 archive >cut; $migrate extract cut --to made --keep-going >/dev/full
            """
        )
        #expect(result.exitCode != 0)
        #expect(result.exitCode != 73, "\(result.errors)")
    }

    @Test(arguments: [
        "inspect archive", "verify archive", "status -c source", "import archive -c made -n",
        "list archive", "fingerprint -c source",
    ])
    func `a command that only answers has failed`(_ words: String) throws {
        let result = try place.shell("$migrate \(words) >/dev/full")
        #expect(result.exitCode == 73, "\(result.errors)")
    }

    @Test func `an import that nobody listens to has succeeded`() throws {
        let words = ["import", place.path("archive"), "--container", place.path("made")]
        let result = try MigrateCommand.run(words, output: .withoutReader)
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.contains("the answer is lost: nobody reads standard output"))
    }
}
