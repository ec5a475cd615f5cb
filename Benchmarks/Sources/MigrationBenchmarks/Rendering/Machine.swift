internal import Glibc

/// The machine that the figures were measured on, and the date.
struct Machine {
    let date: String
    let processor: String
    let processors: Int
    let memory: Double
    let system: String

    static var current: Machine {
        Machine(
            date: today,
            processor: field("model name", in: "/proc/cpuinfo") ?? "an unknown processor",
            processors: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
            memory: Double(sysconf(Int32(_SC_PHYS_PAGES))) * Double(sysconf(Int32(_SC_PAGESIZE))),
            system: "Linux " + (TextFile.read("/proc/sys/kernel/osrelease").words.first ?? "")
        )
    }

    private static var today: String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [UInt8](repeating: 0, count: 32)
        let count = text.withUnsafeMutableBytes { buffer in
            strftime(buffer.bindMemory(to: CChar.self).baseAddress, 32, "%Y-%m-%d", &parts)
        }
        return String(decoding: text[..<count], as: UTF8.self)
    }

    private static func field(_ name: String, in file: String) -> String? {
        let line = TextFile.read(file).split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":").last?.words.joined(separator: " ")
    }
}
