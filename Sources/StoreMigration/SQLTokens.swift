internal import CSQLite

/// A word of SQL text, as SQLite divides it (tokenize.c).
struct SQLToken: Sendable {
    /// The kinds of tokens.
    enum Kind: Sendable {
        /// A keyword, or a name without quotes.
        case word
        /// A name in brackets or backticks.
        case name
        /// A name, or a text if there is no such name.
        case doubleQuoted
        case text, number, symbol
    }

    let kind: Kind
    let spelling: String
    /// The token's bytes in the text.
    let range: Range<Int>
    /// The line of the text, counted from 1.
    let line: Int

    /// The name without its quotes.
    var name: String {
        guard kind == .name || kind == .doubleQuoted || kind == .text, let quote = spelling.first
        else { return spelling }
        let inner = String(spelling.dropFirst().dropLast())
        return quote == "[" ? inner : inner.replacing("\(quote)\(quote)", with: "\(quote)")
    }

    /// Whether it is the keyword `word`, which is in lower case.
    func isWord(_ word: String) -> Bool { kind == .word && spelling.foldedSQLName == word }

    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && spelling == symbol }
}

/// SQL text divided into tokens, without space and comments.
struct SQLTokens: Sendable {
    let tokens: [SQLToken]
    private let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
        var scanner = Scanner(bytes: bytes)
        tokens = scanner.scan()
    }

    /// The text from the first of the tokens to the last.
    func text(of part: ArraySlice<SQLToken>) -> String {
        guard let first = part.first, let last = part.last else { return "" }
        return String(
            decoding: bytes[first.range.lowerBound..<last.range.upperBound],
            as: UTF8.self
        )
    }

    /// The tokens of each statement, without the semicolon at its end.
    var statements: [ArraySlice<SQLToken>] {
        var statements: [ArraySlice<SQLToken>] = []
        var start = 0
        for (index, token) in tokens.enumerated() where token.isSymbol(";") {
            let isOfTrigger = tokens[start..<index].isTrigger
            // A trigger's last statement has a semicolon too, before END.
            if isOfTrigger, !(tokens[index - 1].isWord("end") && tokens[index - 2].isSymbol(";")) {
                continue
            }
            if start < index { statements.append(tokens[start..<index]) }
            start = index + 1
        }
        if start < tokens.count { statements.append(tokens[start...]) }
        return statements
    }
}

extension ArraySlice<SQLToken> {
    /// The words at the start, in capitals.
    func firstWords(_ count: Int) -> [String] {
        prefix(count).prefix { $0.kind == .word }.map { $0.spelling.uppercased() }
    }

    fileprivate var isTrigger: Bool {
        let words = firstWords(3)
        return words.first == "CREATE"
            && (words.dropFirst().first == "TRIGGER" || words.last == "TRIGGER")
    }

    /// The index after the parenthesis that closes the one at `open`.
    func end(ofGroupAt open: Int) -> Int {
        var depth = 0
        for index in open..<endIndex {
            if self[index].isSymbol("(") { depth += 1 }
            if self[index].isSymbol(")") { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return endIndex
    }

    /// The parts between the commas that are outside parentheses.
    var listed: [ArraySlice<SQLToken>] {
        var parts: [ArraySlice<SQLToken>] = []
        var (start, depth) = (startIndex, 0)
        for index in indices {
            if self[index].isSymbol("(") { depth += 1 }
            if self[index].isSymbol(")") { depth -= 1 }
            guard depth == 0, self[index].isSymbol(",") else { continue }
            parts.append(self[start..<index])
            start = index + 1
        }
        if start < endIndex { parts.append(self[start...]) }
        return parts
    }

    /// The tokens in a form that doesn't depend on their spelling.
    ///
    /// The names of the schema are folded; other words in double quotes may be texts.
    func keys(knowing names: Set<String>) -> [String] {
        indices.map { index in
            let isDefault = index > startIndex && self[index - 1].isWord("default")
            return self[index].key(isDefault: isDefault, knowing: names)
        }
    }
}

extension SQLToken {
    fileprivate func key(isDefault: Bool, knowing names: Set<String>) -> String {
        let folded = name.foldedSQLName
        switch kind {
        case .word:
            // SQLite reads such a word as a text.
            return isDefault && !Self.values.contains(folded) ? "text " + spelling : folded
        case .name: return Self.isKeyword(folded) ? "name " + folded : folded
        case .doubleQuoted:
            if isDefault || !names.contains(folded) { return "text " + name }
            return Self.isKeyword(folded) ? "name " + folded : folded
        case .number: return folded
        case .symbol, .text: return spelling
        }
    }

    /// The keywords that are values.
    static let values: Set = [
        "null", "true", "false", "current_date", "current_time", "current_timestamp",
    ]

    fileprivate static func isKeyword(_ word: String) -> Bool {
        unsafe sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0
    }
}

extension String {
    /// The name as SQLite compares names: letters of ASCII have no case.
    var foldedSQLName: String {
        String(decoding: utf8.map { 65...90 ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The name in quotes.
    var quotedSQLName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

    /// The text in quotes.
    var quotedSQLText: String { "'" + replacing("'", with: "''") + "'" }
}

// MARK: - Scanning

private struct Scanner {
    let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private func isByte(_ character: Unicode.Scalar, at offset: Int = 0) -> Bool {
        byte(offset) == UInt8(ascii: character)
    }

    private static func isOfName(_ byte: UInt8?) -> Bool {
        switch byte {
        case .some(0x80...), .some(48...57), .some(65...90), .some(97...122), .some(95), .some(36):
            true
        default: false
        }
    }

    mutating func scan() -> [SQLToken] {
        var tokens: [SQLToken] = []
        while skipSpace() {
            let (start, startLine) = (position, line)
            let kind = passToken()
            line += bytes[start..<position].count { $0 == 10 }
            let spelling = String(decoding: bytes[start..<position], as: UTF8.self)
            tokens.append(
                SQLToken(kind: kind, spelling: spelling, range: start..<position, line: startLine)
            )
        }
        return tokens
    }

    /// Skips space and comments; returns whether something follows.
    private mutating func skipSpace() -> Bool {
        while let byte = byte() {
            let start = position
            if [9, 10, 12, 13, 32].contains(byte) {
                position += 1
            } else if isByte("-"), isByte("-", at: 1) {
                while let next = self.byte(), next != 10 { position += 1 }
            } else if isByte("/"), isByte("*", at: 1) {
                position += 2
                while self.byte() != nil, !(isByte("*") && isByte("/", at: 1)) { position += 1 }
                position = min(position + 2, bytes.count)
            } else {
                return true
            }
            line += bytes[start..<position].count { $0 == 10 }
        }
        return false
    }

    private mutating func passToken() -> SQLToken.Kind {
        guard let first = byte() else { return .symbol }
        switch first {
        case UInt8(ascii: "'"):
            passQuoted(by: first)
            return .text
        case UInt8(ascii: "\""):
            passQuoted(by: first)
            return .doubleQuoted
        case UInt8(ascii: "`"):
            passQuoted(by: first)
            return .name
        case UInt8(ascii: "["):
            while let next = byte(), next != UInt8(ascii: "]") { position += 1 }
            position = min(position + 1, bytes.count)
            return .name
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            guard isByte("'", at: 1) else { break }
            position += 1
            passQuoted(by: UInt8(ascii: "'"))
            return .number
        default: break
        }
        let isFraction = isByte(".") && 48...57 ~= byte(1) ?? 0
        if 48...57 ~= first || isFraction {
            passNumber()
            return .number
        }
        if Self.isOfName(first) {
            while Self.isOfName(byte()) { position += 1 }
            return .word
        }
        passSymbol()
        return .symbol
    }

    private mutating func passQuoted(by quote: UInt8) {
        position += 1
        while let next = byte() {
            position += 1
            guard next == quote else { continue }
            guard byte() == quote else { return }
            position += 1
        }
    }

    private mutating func passNumber() {
        let isHexadecimal = isByte("0") && byte(1).map { $0 | 0x20 } == UInt8(ascii: "x")
        while Self.isOfName(byte()) || isByte(".") {
            let isExponent = !isHexadecimal && byte().map { $0 | 0x20 } == UInt8(ascii: "e")
            position += 1
            if isExponent, isByte("+") || isByte("-") { position += 1 }
        }
    }

    private mutating func passSymbol() {
        let symbols = ["->>", "||", "<=", "<>", "<<", ">=", ">>", "==", "!=", "->"]
        let long = symbols.first { bytes[position...].starts(with: $0.utf8) }
        position += long?.utf8.count ?? 1
    }
}
