import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The values in a file of Android's `SharedPreferences`.
struct SharedPreferences {
    /// A value of one of the six types.
    enum Value: Equatable {
        case string(String)
        case set(Set<String>)
        case integer(Int64)
        case number(Double)
        case boolean(Bool)
    }

    private let values: [String: Value]

    /// Reads `file`.
    ///
    /// - Throws: ``TasksMigrationError/unreadablePreferences(_:)``.
    init(contentsOf file: URL) throws {
        let reader = Reader()
        let parser = XMLParser(data: try Data(contentsOf: file))
        parser.delegate = reader
        // On Linux the parser accepts a file that ends too early.
        guard parser.parse(), reader.isWhole else {
            throw TasksMigrationError.unreadablePreferences(file.lastPathComponent)
        }
        values = reader.values
    }

    subscript(name: String) -> Value? { values[name] }

    /// The string of that name.
    func string(_ name: String) -> String? {
        if case .string(let value) = values[name] { value } else { nil }
    }

    /// The set of strings of that name.
    func set(_ name: String) -> Set<String>? {
        if case .set(let value) = values[name] { value } else { nil }
    }

    /// The `int` or `long` of that name.
    func integer(_ name: String) -> Int? {
        if case .integer(let value) = values[name] { Int(exactly: value) } else { nil }
    }

    /// The `float` of that name.
    func number(_ name: String) -> Double? {
        if case .number(let value) = values[name] { value } else { nil }
    }

    /// The `boolean` of that name.
    func boolean(_ name: String) -> Bool? {
        if case .boolean(let value) = values[name] { value } else { nil }
    }
}

/// Strings are text between tags; all other values are attributes.
private final class Reader: NSObject, XMLParserDelegate {
    private(set) var isWhole = false
    private(set) var values: [String: SharedPreferences.Value] = [:]
    private var name: String?
    private var set: (name: String, members: Set<String>)?
    private var text = ""

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        name = attributes["name"]
        text = ""
        let value = attributes["value"]
        switch element {
        case "set": set = name.map { ($0, []) }
        case "int", "long": store(value.flatMap { Int64($0) }.map { .integer($0) })
        case "float": store(value.flatMap { Double($0) }.map { .number($0) })
        case "boolean": store(value.map { .boolean($0 == "true") })
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) {
        text += characters
    }

    func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        switch element {
        case "string" where set != nil: set?.members.insert(text)
        case "string": store(.string(text))
        case "set":
            if let set { values[set.name] = .set(set.members) }
            set = nil
        case "map": isWhole = true
        default: break
        }
    }

    private func store(_ value: SharedPreferences.Value?) {
        if let name { values[name] = value }
    }
}
