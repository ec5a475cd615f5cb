/// The rules for the paths of entries: nothing but names between single slashes.
enum PathRules {
    /// Says why `path` can't be the path of an entry, or returns `nil` where it can.
    static func violation(of path: [UInt8]) -> String? {
        if path.isEmpty { return "the path is empty" }
        if path.count > TarFormat.pathLimit { return "the path is longer than 65,535 bytes" }
        if path.first == UInt8(ascii: "/") { return "the path is absolute" }
        if path.contains(0) { return "the path holds a zero byte" }
        var start = 0
        for index in 0...path.count where index == path.count || path[index] == UInt8(ascii: "/") {
            if let violation = violation(ofComponent: path[start..<index]) { return violation }
            start = index + 1
        }
        return nil
    }

    private static func violation(ofComponent component: ArraySlice<UInt8>) -> String? {
        switch component.count {
        case 0: return "the path has an empty component"
        case 1 where component.first == UInt8(ascii: "."): return "the path has a '.' component"
        case 2 where component.allSatisfy { $0 == UInt8(ascii: ".") }:
            return "the path has a '..' component"
        case ...TarFormat.componentLimit: return nil
        default: return "a name in the path is longer than 255 bytes"
        }
    }

    /// Says why `target` can't be where a symbolic link leads, or returns `nil` where it can.
    static func violation(ofLinkTarget target: [UInt8]) -> String? {
        if target.isEmpty { return "the link leads nowhere" }
        if target.contains(0) { return "the link's target holds a zero byte" }
        if target.count > 4095 { return "the link's target is longer than 4,095 bytes" }
        return nil
    }

    /// Says why no file can have an attribute of this name, or returns `nil` where one can.
    static func violation(ofAttributeName name: [UInt8]) -> String? {
        if name == PaxKey.userNamespace { return "an attribute has no name" }
        if name.count > 255 { return "an attribute's name is longer than 255 bytes" }
        return nil
    }

    /// Whether a link at `path` to `target` leads out of the root by its words alone.
    static func leadsOut(_ target: [UInt8], from path: EntryPath) -> Bool {
        if target.first == UInt8(ascii: "/") { return true }
        var depth = path.components.count - 1
        for component in target.split(separator: UInt8(ascii: "/")) {
            if component.elementsEqual("..".utf8) {
                depth -= 1
                if depth < 0 { return true }
            } else if !component.elementsEqual(".".utf8) {
                depth += 1
            }
        }
        return false
    }
}

extension EntryPath {
    /// Says why this can't be the path of an entry, or returns `nil` where it can.
    package var violation: String? { PathRules.violation(of: bytes) }

    /// Whether a symbolic link here to `target` leads out of the root by its words alone.
    package func leadsOut(withTarget target: [UInt8]) -> Bool {
        PathRules.leadsOut(target, from: self)
    }
}
