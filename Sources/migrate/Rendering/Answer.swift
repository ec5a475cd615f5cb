/// What a command answers: one model, shown as text or as JSON.
protocol Answer: Encodable, Sendable {
    /// The answer for a person, each line ended.
    var text: String { get }
}

extension TextOutput {
    /// Appends `answer` in the form that was asked for.
    func write(_ answer: some Answer, inJSON: Bool) throws {
        try write(inJSON ? JSONText.document(answer) : answer.text)
    }
}
