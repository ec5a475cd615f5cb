import Foundation
import Glibc
import TestSupport
import Testing

/// `migrate send` and `migrate receive`, with a program instead of ssh that runs the command here.
@Suite(.scratchDirectory)
struct SendTests {
    private let stage: SendStage
    private let whole: [UInt8]

    private var place: Workplace { stage.place }

    init() throws {
        stage = try SendStage()
        whole = try stage.place.export()
    }

    // MARK: - Cuts

    @Test func `goes on wherever the transfer was cut, and sends no proved frame again`() throws {
        let boundaries = FrameBoundaries.of(whole)
        let atRandom = (0..<8).map { _ in Int.random(in: 0..<whole.count) }
        let cuts = boundaries.flatMap { [$0 - 1, $0, $0 + 7, $0 + 8, $0 + 9000] } + [0, 5, 300]
        for cut in cuts + atRandom where cut < whole.count {
            try place.shell("rm -f there there.partial")
            let broken = try stage.send(cutAt: 1 + cut)
            #expect(broken.exitCode == 74, "cut at \(cut): \(broken.errors)")
            #expect(broken.errors.contains("the sender stopped before the archive was whole"))
            #expect(!place.exists("there"), "cut at \(cut)")
            let kept = try stage.keptBytes(stage.send("--json"))
            #expect(try place.bytes(of: "there") == whole, "cut at \(cut)")
            #expect(!place.exists("there.partial"))
            // A frame is proved once the next one, or a table after it, shows that nothing more belongs to it.
            let proved = [cut - 8, cut].map { end in boundaries.last { $0 <= end } ?? boundaries[0]
            }
            #expect(proved.contains(kept + boundaries[0]), "cut at \(cut)")
            let expected = stage.expectedBytes(of: whole, keeping: kept > 0 ? kept : nil)
            #expect(try stage.sentBytes == expected, "cut at \(cut)")
        }
    }

    @Test func `says what it does with a container that is not as it was`() throws {
        let cut = FrameBoundaries.of(whole).last ?? 0
        #expect(try stage.send(cutAt: cut + 100).exitCode == 74)
        try place.shell("rm source/Documents/1.log source/Documents/noise")
        let result = try stage.send()
        try #require(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("the container is not as it was: sent anew, though"))
        #expect(try place.bytes(of: "there") == place.export(as: "fresh"))
    }

    @Test func `resumes in words`() throws {
        let cut = FrameBoundaries.of(whole).last ?? 0
        #expect(try stage.send(cutAt: cut + 100).exitCode == 74)
        let result = try stage.send()
        #expect(result.output.contains("resumed behind "), "\(result.output)\(result.errors)")
        #expect(result.output.contains(" that were sent before\n"))
    }

    // MARK: - What is there

    @Test func `leaves an archive of the same data, and replaces another only with --force`() throws
    {
        try place.write(whole, to: "there")
        let unchanged = try stage.send("--result results")
        #expect(unchanged.exitCode == 0, "\(unchanged.errors)")
        #expect(unchanged.output.contains("unchanged: the other host has this archive\n"))
        #expect(try stage.sentBytes < whole.count / 10)
        #expect(try place.bytes(of: "there") == whole)
        try place.shell("echo more > source/Documents/more")
        let other = try stage.send("--result results")
        #expect(other.exitCode == 73, "\(other.errors)")
        #expect(other.errors.contains("an archive of other data has that name"))
        #expect(other.errors.contains("use --force to replace it"))
        #expect(try place.bytes(of: "there") == whole)
        let forced = try stage.send("--force --result results")
        #expect(forced.exitCode == 0, "\(forced.errors)")
        #expect(try place.bytes(of: "there") == place.export(as: "fresh"))
        let lines = try String(decoding: place.bytes(of: "results"), as: UTF8.self)
        let skipped = lines.split(separator: "\n").map { $0.contains("\"isSkipped\":true") }
        #expect(skipped == [true, false, false])
        #expect(lines.contains("\"archive\":\"ssh://host/~/there\""))
        #expect(try place.shell("\"$migrate\" report --results results").exitCode == 0)
    }

    @Test func `sets aside what is not the beginning of an archive, and says so`() throws {
        let leftovers = [[UInt8]("hello".utf8), [UInt8](repeating: 0, count: 100_000)]
        for (number, bytes) in leftovers.enumerated() {
            try place.write(bytes, to: "there.partial")
            let sent = try stage.send()
            #expect(sent.exitCode == 0, "\(sent.errors)")
            #expect((sent.output + sent.errors).contains("there.partial-\(number + 1)"))
            #expect(try place.bytes(of: "there.partial-\(number + 1)") == bytes)
            #expect(try place.bytes(of: "there") == whole)
            try place.shell("rm there")
        }
    }

    @Test func `refuses a file that is no archive, and what is encrypted`() throws {
        for bytes in [[UInt8]("hello".utf8), [UInt8]("age-encryption.org/v1\n".utf8)] {
            try place.write(bytes, to: "there")
            #expect(try stage.send().exitCode == 73)
            #expect(try place.bytes(of: "there") == bytes)
            try place.shell("rm there")
        }
        for flags in ["--recipient age1x", "--passphrase", "--armor"] {
            let refused = try stage.send(flags)
            #expect(refused.exitCode == 64, "\(refused.errors)")
            #expect(
                refused.errors.contains("has a key of its own and can't go on where it was cut")
            )
        }
        #expect(try place.names().filter { $0.hasPrefix("there") } == [])
    }

    @Test func `refuses what is no file, and waits for none`() throws {
        try place.shell(
            "mkdir directory && mkfifo pipe && ln -s nowhere link && ln -s /dev/zero zero"
        )
        for name in ["directory", "pipe", "link", "zero"] {
            let refused = try stage.send(to: "ssh://host/~/" + name)
            #expect(refused.exitCode == 73, "\(name): \(refused.errors)")
            #expect(refused.errors.contains("is not a whole archive"), "\(refused.errors)")
        }
        let forced = try stage.send("--force", to: "ssh://host/~/pipe")
        #expect(forced.exitCode == 73, "\(forced.errors)")
        #expect(forced.errors.contains("only a file can be replaced"))
        #expect(!forced.errors.contains("--force"), "\(forced.errors)")
        #expect(!place.exists("nowhere"))
    }

    @Test func `goes on with nothing that another user or another name reaches`() throws {
        let plants = ["mkfifo there.partial", "touch mine && ln mine there.partial"]
        let asRoot = ["touch there.partial && chmod 666 there.partial && chown 1 there.partial"]
        for plant in plants + (Machine.isRoot ? asRoot : []) {
            try place.shell("rm -f there; \(plant)")
            let result = try stage.send()
            #expect(result.exitCode == 0, "\(plant): \(result.errors)")
            #expect(try place.bytes(of: "there") == whole)
            let owner = try place.shell("stat -c '%u %a' there && id -u").output
            #expect(owner == "\(getuid()) 600\n\(getuid())\n", "\(plant)")
        }
        #expect(try place.bytes(of: "mine").isEmpty)
        #expect(try stage.send("--force", cutAt: whole.count - 100).exitCode == 74)
        try place.shell("chmod 666 there.partial")
        #expect(try stage.keptBytes(stage.send("--force --json")) > 0)
        #expect(try place.shell("stat -c %a there").output == "600\n")
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `goes on once there is room`() throws {
        let full = try place.shell(
            """
            mkdir small && mount -t tmpfs -o size=6M none small || exit 99
            PATH="$PWD/bin:$PATH" "$migrate" send ssh://host/~/small/there -c source \
                --remote-command "'$migrate'"; code=$?
            ls small; mount -o remount,size=100M small && exit $code
            """
        )
        if full.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        defer { _ = try? place.shell("umount small") }
        #expect(full.exitCode == 73, "\(full.errors)")
        #expect(full.errors.contains("No space left on device"), "\(full.errors)")
        #expect(full.output == "there.partial\n")
        let again = try stage.send("--json", to: "ssh://host/~/small/there")
        #expect(try stage.keptBytes(again) > 0)
        #expect(try place.bytes(of: "small/there") == whole)
    }

    @Test func `lets one sender at a time write an archive`() throws {
        try place.shell("\"$migrate\" export --container source --out there --quiet")
        try place.shell("mv there there.partial")
        let busy = try place.shell(
            """
            exec 9<>there.partial && flock -x 9 &&
            PATH="$PWD/bin:$PATH" "$migrate" send ssh://host/~/there -c source --remote-command "$migrate"
            """
        )
        #expect(busy.exitCode == 75, "\(busy.errors)")
        #expect(busy.errors.contains("another process is writing this archive"))
    }

    // MARK: - The other host

    @Test func `writes under any name, which the shell there takes as it is`() throws {
        let names = ["it's $(touch hacked)", "-n", "a\nb", "\u{FF}*"]
        for name in names {
            let encoded = name.utf8.map {
                "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            let result = try stage.send(to: "ssh://user@host:22/~/" + encoded.joined())
            #expect(result.exitCode == 0, "\(result.errors)")
            #expect(try place.bytes(of: name) == whole)
        }
        #expect(!place.exists("hacked"))
        let words = try String(decoding: place.bytes(of: "ssh.words"), as: UTF8.self)
        #expect(words.contains("\n-p\n22\n--\nuser@host\n"))
    }

    @Test func `asks ssh to notice a silent host, with what is asked for before that`() throws {
        let result = try stage.send("--ssh-option ServerAliveInterval=0 --ssh-option 'Port=1'")
        #expect(result.exitCode == 0, "\(result.errors)")
        let words = try String(decoding: place.bytes(of: "ssh.words"), as: UTF8.self)
        let expected = """
            -o
            ServerAliveInterval=0
            -o
            Port=1
            -o
            ConnectTimeout=60
            -o
            ServerAliveInterval=15
            -o
            ServerAliveCountMax=4
            --
            host

            """
        #expect(words.hasPrefix(expected), "\(words)")
    }

    @Test(arguments: [
        ("exit 255", 74, "ssh failed"),
        (
            "exit 127", 74,
            "the other host has no such command: exit code 127; '--remote-command' names"
        ),
        ("exit 75", 75, "the receiver failed there: exit code 75"),
        ("exit 2", 74, "the receiver failed there: exit code 2"),
        (
            "exec >&- <&-; exec sleep 30", 74,
            "the other host ended the conversation, and ssh goes on"
        ),
        ("exit 0", 74, "the other host ended the conversation"),
        ("kill -9 $$", 74, "signal 9 ended ssh"),
        (
            "echo Welcome to this host; cat", 74,
            "did not answer as a receiver; 'migrate receive' must be what runs there"
        ),
        (
            "printf 'migrate receive 1\\n\\0\\0\\0\\0\\377\\377\\377\\377'; cat", 74,
            "can't be understood"
        ),
        ("printf 'migrate receive 1\\n\\0\\0\\0\\0\\0\\0\\0\\0'; exit 7", 74, "exit code 7"),
        (
            "printf 'migrate receive 1\\n\\0\\0\\0\\0\\0\\0\\0\\0'; cat >/dev/null; echo no", 74,
            "can't be understood"
        ),
        (
            "printf 'migrate receive 1\\n\\0\\0\\0\\0\\0\\0\\0\\0'; cat >/dev/null; yes", 74,
            "the receiver's answer is too long"
        ),
        (
            "printf 'migrate receive 1\\n\\0\\0\\0\\0\\0\\0\\0\\0'; cat >/dev/null; "
                + "echo '{\"fingerprint\":\"\\u001B[31m\",\"isUnchanged\":false}'",
            74, "has another fingerprint: \\x1B[31m"
        ),
        ("echo asked >&2; exit 255", 74, "it printed last:\n    asked"),
    ])
    func `says what failed there`(_ script: String, _ code: Int32, _ words: String) throws {
        try stage.replaceSSH(with: "#!/bin/sh\n\(script)\n")
        let result = try stage.send()
        #expect(result.exitCode == code, "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    @Test func `says that ssh is missing, or where the archive can't be`() throws {
        let nowhere = try stage.send(to: "ssh://host/~/none/there")
        #expect(nowhere.exitCode == 73, "\(nowhere.errors)")
        #expect(nowhere.errors.contains("its directory is missing: "))
        #expect(nowhere.errors.contains("none: No such file or directory"))
        try place.shell("mv bin/ssh bin/other")
        let missing = try place.shell(
            "PATH=/nowhere \"$migrate\" send ssh://host/a --container source"
        )
        #expect(missing.exitCode == 74, "\(missing.errors)")
        #expect(missing.errors.contains("ssh can't be started"))
        for url in ["host:/a", "ssh://-oProxyCommand=x/a", "ssh://host/"] {
            #expect(try stage.send(to: url).exitCode == 64)
        }
    }

    @Test func `ends at once when it is interrupted, and with it ssh`() throws {
        try stage.replaceSSH(with: "#!/bin/sh\necho $$ > ssh.process\nexec sleep 600\n")
        let interrupted = try place.shell(
            """
            PATH="$PWD/bin:$PATH" "$migrate" send ssh://host/a --container source & sender=$!
            while [ ! -s ssh.process ]; do sleep 0.01; done
            kill -TERM $sender; wait $sender; code=$?
            kill -0 "$(cat ssh.process)" 2>/dev/null && exit 1
            exit $code
            """
        )
        #expect(interrupted.exitCode == 143, "\(interrupted.errors)")
    }

    @Test func `a receiver that is interrupted waits for nobody to take its offer`() throws {
        let interrupted = try place.shell(
            """
            mkfifo full empty && exec 3<>full 4<>empty && head -c 65536 /dev/zero >&3
            "$migrate" receive there --protocol 1 <&4 >&3 & receiver=$!
            while [ ! -e there.partial ]; do sleep 0.01; done
            sleep 0.3; kill -TERM $receiver
            { sleep 5; kill -KILL $receiver; } 2>/dev/null & late=$!
            wait $receiver; code=$?
            kill $late
            exit $code
            """
        )
        #expect(interrupted.exitCode == 143, "\(interrupted.errors)")
    }

    @Test func `talks with a program only`() throws {
        let lost = try place.shell("\"$migrate\" receive there --protocol 1 </dev/null >answer")
        #expect(lost.exitCode == 74, "\(lost.errors)")
        #expect(!place.exists("there"))
        for part in ["", "\\1", "\\1part"] {
            let cut = try place.shell(
                "printf '\(part)' | \"$migrate\" receive archive --protocol 1 >answer"
            )
            #expect(cut.exitCode == 74)
            #expect(cut.errors.contains("the sender stopped before its archive could be compared"))
        }
        let other = try place.shell("\"$migrate\" receive there --protocol 2 </dev/null | cat")
        #expect(other.errors.contains("use the same release on both hosts"))
    }

    @Test func `leaves an archive that came to be there meanwhile`() throws {
        let late = try place.shell(
            """
            mkfifo input; "$migrate" receive there --protocol 1 <input >answer & receiver=$!
            exec 3>input; printf '\\0' >&3
            while [ ! -e there.partial ]; do sleep 0.01; done
            cat archive >&3; cp archive there; exec 3>&-
            wait $receiver
            """
        )
        #expect(late.exitCode == 73)
        #expect(late.errors.contains("a file of that name already exists"))
        #expect(
            try place.bytes(of: "answer") == [UInt8]("migrate receive 1\n".utf8)
                + [UInt8](repeating: 0, count: 8)
        )
        #expect(try place.bytes(of: "there") == place.bytes(of: "archive"))
    }

    // MARK: - Importing there

    @Test func `imports what came, once`() throws {
        let first = try stage.send("--import new --json")
        #expect(try stage.keptBytes(first) == 0)
        #expect(first.output.contains("\"isSkipped\" : false"))
        let expected = try place.tree("source").filter { !$0.key.hasPrefix("Library/Caches/") }
        #expect(
            try place.tree("new").filter { !$0.key.hasPrefix("Library/Caches") }
                == expected.filter { !$0.key.hasPrefix("Library/Caches") }
        )
        let again = try stage.send("--import new")
        #expect(again.output.contains("already imported into new there\n"), "\(again.output)")
        try place.shell("echo more > source/Documents/more")
        let refused = try stage.send("--force --import new")
        #expect(refused.exitCode == 73, "\(refused.errors)")
        #expect(refused.errors.contains("use --replace to replace it"))
        #expect(!place.exists("new/Documents/more"))
        let replaced = try stage.send("--import new --replace")
        #expect(replaced.output.contains("unchanged"), "\(replaced.errors)")
        #expect(replaced.output.contains("replaced the data that was there\n"))
        #expect(place.exists("new/Documents/more"))
    }

    @Test func `names no flag that the receiver does not have`() throws {
        try place.shell("ln -s /etc source/out")
        let refused = try stage.send("--force --import new")
        #expect(refused.errors.contains("a link leads out of the container"), "\(refused.errors)")
        #expect(!refused.errors.contains("--external-links skip"), "\(refused.errors)")
        #expect(!place.exists("new/Documents"))
    }
}
