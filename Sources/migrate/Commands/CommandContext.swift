/// What surrounds a command: its streams, and the signals that may end it.
struct CommandContext: Sendable {
    var console = Console()
    var signals: SignalWatch?
}
