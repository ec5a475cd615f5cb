import TestSupport
import Testing

/// Disks that fill up in a session with an app's own extension.
@Suite(.scratchDirectory, .enabled(if: Machine.isRoot, "needs root to mount a file system"))
struct ExtensionFullDiskTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    private var place: Workplace { stage.place }

    /// Runs `script` with the file system `small` of four megabytes that holds a container `live`.
    private func run(_ script: String) throws -> MigrateCommand.Result {
        let result = try place.shell(
            """
            terms="--extension \(ExtensionStage.program) --entitlements entitlements"
            mkdir small && mount -t tmpfs -o size=4m none small || exit 99
            mkdir small/live; echo old > small/live/data
            \(script)
            umount small
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        return result
    }

    /// The state that a failed import leaves: the old data, and a record that says why.
    private func expectOldContainer(
        _ result: MigrateCommand.Result,
        code: String,
        because reasons: String...
    ) {
        func isReason(_ line: String) -> Bool { reasons.contains(where: line.contains) }
        let lines = result.output.split(separator: "\n").map(String.init)
        let rest = [
            "small:", "live", "small/live:", ".migration", "data", "small/live/.migration:",
            "import-attempt.json", "old",
        ]
        #expect(lines.first == code, "\(result.errors)")
        #expect(lines.count == 2 + rest.count && lines.suffix(rest.count) == rest[...])
        #expect(lines[1].hasPrefix("failure: "))
        #expect(isReason(lines[1]), "\(lines[1])")
        let error = result.errors.split(separator: "\n").last { $0.contains("error: import") }
        #expect(error.map { isReason(String($0)) } ?? false, "\(result.errors)")
    }

    private static let look = """
        $migrate status --container small/live | head -n 1
        ls -A small small/live small/live/.migration; cat small/live/data
        """

    @Test func `leaves nothing of an export that does not fit`() throws {
        try stage.script("append Documents")
        let result = try run(
            """
            head -c 6000000 /dev/urandom > source/Documents/noise
            $migrate export --container source $terms --out small/archive; echo $?
            ls -A small
            """
        )
        #expect(result.output == "73\nlive\n", "\(result.errors)")
        let error = result.errors.split(separator: "\n").last ?? ""
        #expect(error.contains("small/archive: ") && error.contains("No space left on device"))
    }

    @Test func `leaves the container whose import directory does not fit`() throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write("progress 1 1", to: "import")
        let result = try run(
            """
            head -c 6000000 /dev/urandom > source/Documents/noise
            $migrate export --container source $terms --out archive >/dev/null
            cat archive | $migrate import - --container small/live --replace $terms; echo $?
            \(Self.look)
            """
        )
        let reason = "no space is left to write: Docu"
        expectOldContainer(result, code: "73", because: "are free", reason)
    }

    @Test func `leaves the container that the extension fills up`() throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write("fill Documents/more 3000000\nfill Documents/most 9000000", to: "import")
        let result = try run(
            """
            $migrate export --container source $terms --out archive >/dev/null
            $migrate import archive --container small/live --replace $terms; echo $?
            \(Self.look)
            """
        )
        expectOldContainer(result, code: "1", because: "There isn’t enough space.")
    }
}
