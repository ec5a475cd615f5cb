internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate send`: exports one container into an archive on another host.
struct SendCommand: ExportingCommand {
    private(set) var container: BytePath = ""
    private var place: SSHLocation?
    private(set) var content = ContentFlags()
    private var importContainer: BytePath?
    private var replacesData = false
    private var remoteCommand = [UInt8]("migrate".utf8)
    private var shellOptions: [[UInt8]] = []
    var common = CommonOptions()

    static let name = "send"
    static let abstract = "Export a container into an archive on another host."

    static var arguments: [Argument<Self>] {
        [
            Argument("destination", as: .remotePlace, to: \.place)
                .help("The archive on the other host: ssh://[user@]host[:port]/path.")
        ]
    }

    static var flags: [Flag<Self>] {
        Flag.container(to: \.container)
        ContentFlags.flagsOfWriting.map { $0.included(at: \.content) }
        EncryptionFlags.refused(
            because:
                "every encrypted archive has a key of its own and can't go on where it was cut; "
                + "'migrate export --out-command' sends one whole"
        )
        Flag.force(replacing: "an archive")
        importContainer
        Flag("replace", sets: \.replacesData)
            .help("Replace the data of a container on the other host.")
            .needing(importContainer)
            .about(.container)
        Flag("remote-command", value: "command", as: .bytes, to: \.remoteCommand)
            .help("The command that the other host's shell runs; 'migrate' by default.")
            .about(.running)
        Flag("ssh-option", value: "name=value", as: .bytes, appendingTo: \.shellOptions)
            .help(
                "Give ssh this option, as 'ssh -o' does; may be repeated. By default it ends when the other "
                    + "host is silent for a minute: ConnectTimeout=60, ServerAliveInterval=15, "
                    + "ServerAliveCountMax=4."
            )
            .about(.running)
        Flag.quiet
        Flag.verboseNamingFiles
        Flag.json
        Flag.progress
        Flag.wait
        ContentFlags.threads.included(at: \.content)
        Flag.result
    }

    static let examples: Examples = [
        "Export a container into an archive on another host.":
            "migrate send ssh://backup.example.com/srv/notes.tar.zst -c notes",
        "Import the archive there once it is whole.":
            "migrate send ssh://nas/srv/notes.tar.zst -c notes --import /srv/notes",
        "Name the program, which is outside of the other host's PATH.":
            "migrate send ssh://nas/notes.tar.zst -c notes --remote-command bin/migrate",
    ]

    private static let importContainer = Flag<Self>(
        "import",
        value: "dir",
        as: .directory,
        to: \.importContainer
    )
    .help("Import the archive into this container on the other host once it is whole.")
    .about(.container)

    mutating func check() throws(UsageError) {
        guard !remoteCommand.isEmpty else {
            throw UsageError("option '--remote-command' has an empty value")
        }
        try content.check()
    }

    var archive: ArchiveName { ArchiveName(BytePath(place?.url ?? [])) }

    var subject: String { PrintableText.escaping(container) }

    func subject(of error: any Error) -> String {
        let isOfTransfer = (error as? MigrationError)?.code == .commandFailed
        return error.isOfOutput || isOfTransfer ? archive.destinationText : subject
    }

    func exitCode(for error: any Error) -> ExitCode {
        guard let failure = (error as? MigrationError)?.cause as? ReceiverFailure else {
            return ExitCode(for: error)
        }
        return ExitCode(ofReceiver: failure.exitCode)
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        guard let place else { preconditionFailure("the parser requires the argument") }
        let console = context.console.quieted(common.isQuiet)
        let remote = RemoteArchive(
            place,
            command: remoteCommand,
            arguments: ReceiveCommand.words(
                replacesExisting: common.replacesExisting,
                importingInto: importContainer,
                replacesData: replacesData,
                waitLimit: common.waitLimit
            ),
            options: shellOptions
        )
        let source = try content.source(container)
        let report = try await export(
            source,
            content.options(),
            for: .archive(.remote(remote)),
            on: console
        )
        let received = try ReceiveAnswer(reading: remote.answer)
        guard received.fingerprint == report.fingerprint.description else {
            let message = "the archive there has another fingerprint: \(received.fingerprint)"
            throw MigrationError(.commandFailed, message)
        }
        let transfer = TransferAnswer(received, from: remote)
        try conclude(
            ExportAnswer(archive, report: report, transfer: transfer, .ofFlags),
            isSkipped: received.isUnchanged,
            in: context
        )
        return .success
    }
}

extension ValueReader where Value == SSHLocation? {
    /// The URL of an archive on another host.
    fileprivate static var remotePlace: Self {
        ValueReader<[UInt8]>.bytes.map { (url) throws(ValueError) in
            guard let place = SSHLocation(url: url) else {
                throw .invalid("is not of the form ssh://[user@]host[:port]/path")
            }
            return place
        }
    }
}
