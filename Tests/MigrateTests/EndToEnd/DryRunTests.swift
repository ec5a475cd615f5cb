import Foundation
import TestSupport
import Testing

/// `--dry-run` of exports and imports.
@Suite(.scratchDirectory)
struct DryRunTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer(megabytes: 1)
        try place.shell("mkdir -p source/tmp && echo temporary >source/tmp/file")
    }

    /// The document in `text` without the members in `omitted`.
    private func document(
        _ text: String,
        without omitted: String...
    ) throws -> [String: any Sendable] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        var document = try #require(object as? [String: any Sendable])
        for member in omitted { document[member] = nil }
        return document
    }

    @Test func `says what an export would archive, and makes no file`() throws {
        let names = try place.names()
        let dry = try place.shell("$migrate export -c source -o archive --dry-run --json")
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect(try place.names() == names)
        #expect(try document(dry.output)["isDryRun"] as? Bool == true)
        let real = try place.shell("$migrate export -c source -o archive --json")
        let (planned, made) = (
            try document(dry.output, without: "isDryRun"), try document(real.output)
        )
        #expect(planned as NSDictionary == made as NSDictionary)
        #expect(try place.bytes(of: "archive").count == made["archiveBytes"] as? Int)
    }

    @Test func `says so to a person, names the files, and signs nothing`() throws {
        let dry = try place.shell(
            """
            ssh-keygen -q -t ed25519 -N '' -f key &&
            $migrate export -n -v -c source -o archive --sign-key key
            """
        )
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect(dry.output.hasPrefix("archive: would hold 7 files, "))
        #expect(dry.output.contains("left out: tmp"))
        #expect(dry.errors.contains("Documents/numbers\n"))
        #expect(!place.exists("archive.sig") && !place.exists("archive"))
    }

    @Test func `refuses what an export would refuse`() throws {
        try place.shell("echo old >archive; mkdir directory")
        let existing = try place.shell("$migrate export -n -c source -o archive")
        existing.expectFailure(73)
        #expect(existing.errors.contains("--force"))
        let missing = try place.shell("$migrate export -n -c source -o none/archive")
        missing.expectFailure(73)
        #expect(missing.errors.contains("the directory of --out must exist"))
        try place.shell("$migrate export -n -c source -o directory --force").expectFailure(73)
        let forced = try place.shell("$migrate export -n -c source -o archive --force")
        #expect(forced.exitCode == 0, "\(forced.errors)")
        #expect(try place.bytes(of: "archive") == Array("old\n".utf8))
    }

    @Test func `says what an import would replace and the space that it needs`() throws {
        try place.export()
        let before = try place.shell(
            "cp -a source target && find target -printf '%p %T@\\n' | sort"
        )
        let dry = try place.shell("$migrate import archive -c target --replace --dry-run --json")
        #expect(dry.exitCode == 0, "\(dry.errors)")
        let after = try place.shell("find target -printf '%p %T@\\n' | sort")
        #expect(after.output == before.output)
        let answer = try document(dry.output)
        let plan = try #require(answer["dryRun"] as? [String: any Sendable])
        let count = try place.shell("find target -type f -printf '%i\\n' | sort -u | wc -l")
        let totals = try #require(plan["replacedTotals"] as? [String: any Sendable])
        #expect(totals["files"] as? Int == Int(count.output.dropLast()))
        #expect(plan["neededBytes"] as? Int ?? 0 > 1_000_000)
        let real = try place.shell("$migrate import archive -c target --replace --json")
        let made = try document(real.output)
        #expect(try document(dry.output, without: "dryRun") as NSDictionary == made as NSDictionary)
    }

    @Test(arguments: ["$migrate import archive", "cat archive | $migrate import -"])
    func `makes no container`(_ command: String) throws {
        try place.export()
        let dry = try place.shell("\(command) -c target -n -v")
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect(dry.output.contains(": would be imported into target: 7 files, "))
        #expect(dry.output.contains("\nneeds 1.0 MB, "))
        #expect(!dry.output.contains("would replace"))
        #expect(dry.errors.contains("Documents/numbers\n"))
        #expect(!place.exists("target"))
    }

    @Test func `refuses what an import would refuse`() throws {
        try place.export()
        let held = try place.shell("$migrate import archive -c source -n")
        held.expectFailure(73)
        #expect(held.errors.contains("--replace"))
        try place.shell("head -c 400000 archive >cut")
        try place.shell("$migrate import cut -c target -n").expectFailure(65)
        try place.shell("cat cut | $migrate import - -c target -n").expectFailure(65)
        let other = String(repeating: "0", count: 64)
        try place.shell("$migrate import archive -c target -n --expect \(other)").expectFailure(65)
        let linked = try place.shell(
            """
            ln -s /etc source/out && $migrate export -c source -o linked -q
            $migrate import linked -c target -n
            """
        )
        #expect(linked.exitCode == 65, "\(linked.errors)")
        let hosted = try place.shell("$migrate import archive -c target -n --extension /bin/true")
        #expect(hosted.exitCode == 64)
        let keeping = try place.shell(
            "$migrate import archive -c target -n --replace --keep-old cut"
        )
        #expect(keeping.exitCode == 73, "\(keeping.errors)")
        #expect(!place.exists("target"))
    }

    /// In `/proc` nobody can make a directory, also not root.
    @Test(arguments: ["/proc/target", "/sys/target", "missing/target"])
    func `refuses a container that can't be made`(_ name: String) throws {
        try place.export()
        let result = try place.shell("$migrate import archive -c \(name) -n")
        #expect(result.exitCode != 0)
        #expect(result.errors.hasPrefix("migrate: error: import "), "\(result.errors)")
    }

    @Test(.enabled(if: !Machine.isRoot, "root may write everywhere"))
    func `refuses a container that the user can't write`() throws {
        try place.export()
        let result = try place.shell(
            """
            mkdir -p closed/inside && chmod 555 closed closed/inside
            $migrate import archive -c closed/target -n; echo $?
            $migrate import archive -c closed/inside -n; echo $?
            chmod 755 closed closed/inside
            """
        )
        #expect(result.output == "73\n73\n", "\(result.errors)")
    }

    @Test(.enabled(if: Machine.isRoot, "mounting needs root"))
    func `says how much room is missing`() throws {
        try place.export()
        let result = try place.shell(
            """
            mkdir small && mount -t tmpfs -o size=256k none small || exit 99
            $migrate import archive -c small/target -n; echo $?
            $migrate export -c source -o small/archive -n; echo $?
            ls -A small; umount small
            """
        )
        guard result.exitCode != 99 else { return }
        #expect(result.output == "73\n73\n", "\(result.errors)")
        #expect(result.errors.contains("the container needs 1.0 MB, 262.1 kB are free"))
        #expect(result.errors.contains("the archive needs"))
    }
}
