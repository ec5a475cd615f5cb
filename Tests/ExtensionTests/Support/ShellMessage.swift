/// Messages of a session that a shell program sends.
enum ShellMessage {
    /// A command that sends `json` as a message whose kind is that of a character.
    static func sending(_ json: String, as kind: Character) -> String {
        let length = UInt32(json.utf8.count + 1)
        let bytes = (0..<4).map { length >> ($0 * 8) & 0xFF } + [UInt32(kind.asciiValue ?? 0)]
        let head = bytes.map { "\\" + String($0, radix: 8) }.joined()
        return "printf '\(head)%s' '\(json)' >&3"
    }

    /// A command that says that an extension with this name imports.
    static func describingImport(by name: String = "X") -> String {
        sending(#"{"version":4,"name":"\#(name)","imports":true}"#, as: "!")
    }

    /// A command that says that an import is done.
    static let finishingImport = sending(
        #"{"wasCancelled":false,"progress":"#
            + #"{"isNewPerRead":false,"hasMoved":true,"#
            + #""last":{"completed":1,"total":1,"fraction":1}}}"#,
        as: "$"
    )
}
