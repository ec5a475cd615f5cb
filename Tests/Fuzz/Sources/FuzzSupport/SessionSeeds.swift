/// The messages that the fuzzer starts from, as ``MessageScript`` reads them.
public enum SessionSeeds {
    private static let error =
        #"{"kind":"migration","path":"p","error":{"domain":"d","code":3,"description":"no"}}"#

    /// The messages of an extension's process.
    private static let fromExtension = [
        "!" + #"{"version":4,"name":"N","exports":{"sizeEstimate":1,"resourcesVersion":"1","#
            + #""isCompressible":true,"options":["o"]},"imports":true}"#,
        "#" + #"{"completed":1,"total":2,"fraction":0.5}"#,
        "#"
            + #"{"completed":-9223372036854775808,"total":9223372036854775807,"fraction":-1e300}"#,
        "$" + #"{"wasCancelled":false,"progress":{"isNewPerRead":false,"hasMoved":true,"#
            + #""last":{"completed":1,"total":2,"fraction":0.5}}}"#,
        "%" + error,
        "a|@/Documents/a|a",
    ]

    /// The appends of an extension's process.
    private static let appends = [
        "a|@/Documents/a|a\ns|@/Documents/d/b|d/b\ns|@/c|c", "a|@|all", "a|@/Documents|Documents",
        "a|@/out/secret|s", "s|@/out|s", "a|@/../outside/secret|s", "a|@/.migration/secret|s",
        "s|@/.migration|m", "a|@/c|../c", "a|@/c|c\na|@/c|c", "a|@/c|c/d\ns|@/c|c",
    ]

    /// The messages of a host.
    private static let fromHost = [
        "\u{1}" + #"{"version":2,"container":"L2Rldg==","bundleIdentifier":"b","#
            + #""temporaryDirectory":"L3RtcA==","groups":{"g":"L3Zhcg=="},"appendPolicy":"ahead"}"#,
        "\u{2}" + #"{"platform":"iOS","options":{"o":"AAAA"}}"#,
        "\u{3}" + #"{"directory":"L2Rldg==","source":{"storeIdentifier":"s","#
            + #""bundleIdentifier":"b","platform":"iOS"},"sourceVersion":"1"}"#,
        "\u{4}\u{1}\u{0}\u{0}\u{0}", "\u{5}\u{1}\u{0}\u{0}\u{0}" + error, "\u{6}",
    ]

    /// Inputs of the target: what to do, the size of the pieces, and the messages.
    public static func inputs() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        let all = fromExtension.joined(separator: "\n")
        for script in fromExtension + [all] { seeds.append([0, 7] + [UInt8](script.utf8)) }
        for script in appends { seeds.append([1, 255] + [UInt8](script.utf8)) }
        for script in fromHost { seeds.append([2, 3] + [UInt8](script.utf8)) }
        seeds.append([8, 255] + [UInt8](all.utf8))
        seeds.append([4, 1, 5, 0, 0, 0, 35] + [UInt8]("[1]]".utf8))
        return seeds
    }
}
