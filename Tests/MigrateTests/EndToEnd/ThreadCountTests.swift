import Foundation
import TestSupport
import Testing

/// How many threads a process has at a time, whatever is asked for: those of `--threads`, and three that wait for others.
@Suite(.scratchDirectory)
struct ThreadCountTests {
    private static let threads = 16

    private static let count = """
        import glob, subprocess, sys
        run = subprocess.Popen(["sh", "-c", sys.argv[1]], stdout=subprocess.DEVNULL, start_new_session=True)
        most = 0
        while run.poll() is None:
            for path in glob.glob("/proc/[0-9]*/stat"):
                try:
                    fields = open(path).read().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                # The session, and the number of threads (proc_pid_stat(5)).
                if int(fields[3]) == run.pid:
                    most = max(most, int(fields[17]))
        assert run.returncode == 0, run.returncode
        print(most)
        """

    /// The maximum number of threads that a process of `words` had at a time.
    private func mostThreads(_ words: String, in place: Workplace) throws -> Int {
        let counted = try place.shell(
            """
            PATH="$PWD/bin:$PATH"; export PATH
            python3 -c '\(Self.count)' '"$migrate" \(words) --threads \(Self.threads)'
            """
        )
        try #require(counted.exitCode == 0, "\(words): \(counted.errors)")
        return try #require(Int(counted.output.dropLast()))
    }

    @Test func `no process has more threads than were asked for and three`() throws {
        let stage = try SendStage()
        let place = stage.place
        try place.shell("umask 077 && echo passphrase > passphrase")
        let key = "--passphrase-file passphrase"
        for words in [
            "export --container source --out plain --level 12",
            "import plain --container copy",
            "export --container source --out sealed \(key)",
            "import sealed --container opened \(key)",
            "send ssh://host/~/there --container source --remote-command \"$migrate\"",
        ] {
            let most = try mostThreads(words, in: place)
            #expect(most > 1 && most <= Self.threads + 3, "\(words)")
        }
    }
}
