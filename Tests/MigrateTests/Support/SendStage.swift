import Foundation
import Testing

/// A container `source`, and a program instead of ssh that runs the other host's command here.
struct SendStage {
    let place: Workplace

    /// It passes on at most `$cut` bytes, and notes them; like ssh, it ends with the command.
    private static let ssh = """
        #!/bin/sh
        printf '%s\\n' "$@" > ssh.words
        for command; do :; done
        rm -f stream && mkfifo stream && exec 3<&0
        head -c "${cut:-1000000000}" <&3 2>&1 | tee sent >stream 2>&1 &
        exec sh -c "$command" <stream 3<&-
        """

    init() throws {
        place = try Workplace()
        try place.makeContainer(megabytes: 10)
        try place.shell("for n in 1 2 3; do seq $((n * 300000)) > source/Documents/$n.log; done")
        try replaceSSH(with: Self.ssh)
    }

    /// Writes the program in another process, because one that this process starts at the same time could keep the
    /// file open, and then it could not be run.
    func replaceSSH(with script: String) throws {
        let written = try place.shell(
            "mkdir -p bin && cat > bin/ssh && chmod +x bin/ssh",
            input: [UInt8](script.utf8)
        )
        try #require(written.exitCode == 0, "\(written.errors)")
    }

    /// Sends the container to `there`, which is in the same directory.
    func send(
        _ flags: String = "",
        to url: String = "ssh://host/~/there",
        cutAt cut: Int? = nil
    ) throws -> MigrateCommand.Result {
        let limit = cut.map { "cut=\($0) " } ?? ""
        return try place.shell(
            "PATH=\"$PWD/bin:$PATH\" \(limit)\"$migrate\" send '\(url)' --container source "
                + "--remote-command \"'$migrate'\" \(flags)"
        )
    }

    /// The bytes that a run with `--json` did not send because the other side had them.
    func keptBytes(_ result: MigrateCommand.Result) throws -> Int {
        try #require(result.exitCode == 0, "\(result.errors)")
        let answer = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require((answer as? [String: Any])?["resumedBytes"] as? Int)
    }

    /// The bytes that the last run sent.
    var sentBytes: Int {
        get throws { try place.bytes(of: "sent").count }
    }

    /// The bytes of the conversation of a run that sends `whole` and leaves out `kept` bytes of its pieces; `nil` if
    /// the other side had none.
    func expectedBytes(of whole: [UInt8], keeping kept: Int?) -> Int {
        // After the header, eight bytes say where the rest begins.
        kept.map { 1 + 8 + whole.count - $0 } ?? 1 + whole.count
    }
}
