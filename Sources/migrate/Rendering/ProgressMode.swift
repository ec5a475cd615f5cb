/// How progress is shown, as `--progress` says.
enum ProgressMode: String, CaseIterable, Sendable {
    case auto, bar, plain, none

    /// What is drawn, and how often.
    enum Style: Sendable {
        case bar
        case lines

        /// The time between two drawings, in milliseconds.
        var interval: Int {
            switch self {
            case .bar: 100
            case .lines: 1000
            }
        }
    }

    /// The style on a standard error that is a terminal or not; `nil` shows nothing.
    func style(onTerminal isTerminal: Bool) -> Style? {
        switch self {
        case .auto: isTerminal ? .bar : nil
        case .bar: .bar
        case .plain: .lines
        case .none: nil
        }
    }
}
