/// A quantity that is measured.
enum Quantity: Hashable {
    case wall(Operation)
    case processor(Operation)
    case memory(Operation)
    case archiveSize

    /// The quantity's name in the JSON report.
    var name: String {
        switch self {
        case .wall(let operation): "\(operation.rawValue) wall seconds"
        case .processor(let operation): "\(operation.rawValue) CPU seconds"
        case .memory(let operation): "\(operation.rawValue) peak bytes"
        case .archiveSize: "archive bytes"
        }
    }

    /// Whether it is a number of bytes, not of seconds.
    var isBytes: Bool {
        switch self {
        case .memory, .archiveSize: true
        case .wall, .processor: false
        }
    }

    static let all: [Self] =
        Operation.allCases.flatMap { [.wall($0), .processor($0), .memory($0)] } + [.archiveSize]
}
