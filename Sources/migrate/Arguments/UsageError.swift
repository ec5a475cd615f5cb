import MigrationArchive

/// A command line that can't be understood.
struct UsageError: Error, Sendable {
    /// What is wrong, with the word that is.
    let message: String

    /// The command that was meant, if it is known.
    var command: CommandDescription?

    init(_ message: String, command: CommandDescription? = nil) {
        self.message = message
        self.command = command
    }

    /// Makes an error for a word that is none of `candidates`, naming the nearest of them.
    init(unknown kind: String, _ word: [UInt8], among candidates: [String]) {
        let nearest = NearestWord.find(to: word, among: candidates)
        let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
        self.init("unknown \(kind) \(Self.quoting(word))\(hint)")
    }

    /// The same error, about `command` where no command is known yet.
    func adding(_ command: CommandDescription?) -> UsageError {
        UsageError(message, command: self.command ?? command)
    }

    /// The same error, about a command that refused to run.
    func adding(_ command: (any Command)?) -> UsageError {
        adding(command.map { type(of: $0).description })
    }

    /// A word of the command line as it may be shown.
    static func quoting(_ word: [UInt8]) -> String {
        "'\(PrintableText.escaping(word))'"
    }
}
