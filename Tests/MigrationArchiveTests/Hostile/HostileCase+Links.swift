import TestSupport

@testable import MigrationArchive

/// Links that lead out, and entries that come through links.
extension HostileCase {
    static let links = symbolicLinks + linksUpFromLinks + hardLinks

    private static let symbolicLinks = [
        refused("write through a link") {
            $0.add("s", type: "2", link: "../outside")
            $0.add("s/pwned", content: [1])
        },
        refused("write through an absolute link") {
            $0.add("s", type: "2", link: "/outside")
            $0.add("s/pwned", content: [1])
        },
        refused("write through a link that stays inside") {
            $0.add("d/", type: "5")
            $0.add("s", type: "2", link: "d")
            $0.add("s/f", content: [1])
        },
        refused("links that lead out only together") {
            $0.add("d/", type: "5")
            $0.add("a", type: "2", link: "d")
            $0.add("d/up", type: "2", link: "..")
            $0.add("b", type: "2", link: "a/up")
            $0.add("c", type: "2", link: "b/..")
        },
        refused("file in place of a link to outside") {
            $0.add("f", type: "2", link: "../outside/canary")
            $0.add("f", content: [1])
        },
        refused("links in a circle, written through") {
            $0.add("a", type: "2", link: "b")
            $0.add("b", type: "2", link: "a")
            $0.add("a/f", content: [1])
        },
        refused("link to outside") { $0.add("s", type: "2", link: "../../etc/passwd") },
        refused("absolute link") { $0.add("s", type: "2", link: "/private/var/x") },
        refused("directory through a link") {
            $0.add("s", type: "2", link: "../outside")
            $0.add("s/", type: "5", mode: "0000000")
        },
        refused("link in place of a directory") {
            $0.add("d/", type: "5")
            $0.add("d/f", content: [1])
            $0.add("d", type: "2", link: "../outside")
            $0.add("d/pwned", content: [1])
        },
        refused("link that leads nowhere") { $0.add("s", type: "2") },
        refused("link of 5000 bytes") {
            $0.addRecords([("linkpath", String(repeating: "t/", count: 2500))])
            $0.add("s", type: "2")
        },
        refused("links whose paths grow past every limit") { tar in
            let long = String(repeating: "d", count: 200)
            var path = ""
            for index in 0..<24 {
                tar.add(path + "\(index)/", type: "5")
                tar.addRecords([("linkpath", "\(index)"), ("path", "\(path)l\(index)")])
                tar.add("l", type: "2", link: long)
                path += "\(index)/"
            }
            let links = (0..<24).map { "l\($0)/" }.joined()
            let target = links + repeatElement("..", count: 25).joined(separator: "/")
            tar.addRecords([("linkpath", target), ("path", "up")])
            tar.add("up", type: "2")
            tar.add("up/pwned", content: [1])
        },
        accepted("dangling link", ["s -> nowhere/here"]) {
            $0.add("s", type: "2", link: "nowhere/here")
        },
        accepted("link that claims a size", ["s -> before"]) {
            $0.add("s", type: "2", size: [UInt8]("00000001000".utf8), link: "before")
        },
    ]

    /// Links that by their text stay inside, and go up from where another link ends.
    private static let linksUpFromLinks = [
        refused("link up from a link to where something may come") {
            $0.addLinkUp(fromLinkTo: "../../.migration")
        },
        refused("link up from a link to a directory that comes later") {
            $0.addLinkUp(fromLinkTo: "../../z")
            $0.add("z/", type: "5")
        },
        refused("link up from nothing") { $0.add("s", type: "2", link: "nothing/../before") },
        refused("link up from a file") { $0.add("s", type: "2", link: "before/../before") },
        refused("link up from a link in a circle") {
            $0.add("d/", type: "5")
            $0.add("d/s", type: "2", link: "s/..")
        },
        refused("link up from a link deeper than a path can say") { tar in
            let name = String(repeating: "n", count: 240)
            let path = repeatElement(name, count: 18).joined(separator: "/")
            let target = String(repeating: "../", count: 18) + "z"
            for (link, target) in [("m", target), ("q", "m/../../secret")] {
                tar.addRecords([("path", "\(path)/\(link)"), ("linkpath", target)])
                tar.add("l", type: "2")
            }
            tar.add("z/", type: "5")
        },
        accepted(
            "links up from directories and from links to them",
            [
                "d/", "d/e/", "d/e/s -> ../../before", "to -> d/e", "up -> d/../before",
                "back -> to/../e/s", "far -> nothing/here",
            ]
        ) {
            $0.add("d/", type: "5")
            $0.add("d/e/", type: "5")
            $0.add("d/e/s", type: "2", link: "../../before")
            $0.add("to", type: "2", link: "d/e")
            $0.add("up", type: "2", link: "d/../before")
            $0.add("back", type: "2", link: "to/../e/s")
            $0.add("far", type: "2", link: "nothing/here")
        },
    ]

    private static let hardLinks = [
        refused("hard link to an absolute path") { $0.add("h", type: "1", link: "/etc/passwd") },
        refused("hard link to outside") {
            $0.add("h", type: "1", link: "../outside/secret")
            $0.add("h", content: [1])
        },
        refused("hard link by record to outside") {
            $0.addRecords([("linkpath", "../outside/secret")])
            $0.add("h", type: "1", link: "before")
        },
        refused("hard link to a link to outside") {
            $0.add("s", type: "2", link: "../outside/canary")
            $0.add("h", type: "1", link: "s")
            $0.add("h", content: [1])
        },
        refused("hard link through a link") {
            $0.add("s", type: "2", link: "../outside")
            $0.add("h", type: "1", link: "s/secret")
        },
        refused("hard link to nothing") { $0.add("h", type: "1", link: "missing") },
        refused("hard link to itself") { $0.add("h", type: "1", link: "h") },
        refused("hard link to what follows") {
            $0.add("h", type: "1", link: "later")
            $0.add("later", content: [1])
        },
        refused("hard link to a directory") {
            $0.add("d/", type: "5")
            $0.add("h", type: "1", link: "d")
        },
        refused("hard link with content behind it") {
            $0.add("h", type: "1", content: [1, 2, 3], link: "before")
        },
        accepted("hard link to a file", ["h 6"]) { $0.add("h", type: "1", link: "before") },
    ]
}

extension RawTar {
    /// Appends a link that leads up from `a/b/m`, a link to `target`.
    fileprivate mutating func addLinkUp(fromLinkTo target: String) {
        add("a/", type: "5")
        add("a/b/", type: "5")
        add("a/b/m", type: "2", link: target)
        add("a/b/q", type: "2", link: "m/../../secret")
    }
}
