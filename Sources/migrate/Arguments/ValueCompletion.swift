/// What a shell may offer as a value.
enum ValueCompletion: Sendable {
    case none
    case file
    case directory
    case words([String])
}
