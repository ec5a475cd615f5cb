import Foundation
import MigrationSystem
import Testing

/// The flags that the kernel has for the memory of secrets.
struct SecretMemoryTests {
    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/smaps")))
    func `is empty in forked processes, and in no core dump`() throws {
        let memory = SecretMemory(count: 5000)
        defer { memory.release() }
        #expect(memory.bytes.count >= 5000)
        #expect(memory.bytes.allSatisfy { $0 == 0 })
        memory.bytes.storeBytes(of: 7, toByteOffset: 4999, as: UInt8.self)
        let start = UInt(bitPattern: memory.bytes.baseAddress)
        let flags = try Self.flags(ofMappingAt: start)
        #expect(flags.contains("wf"), "\(flags)")
        #expect(flags.contains("dd"), "\(flags)")
    }

    /// The flags of the mapping that holds `address` (proc_pid_smaps(5)).
    private static func flags(ofMappingAt address: UInt) throws -> [Substring] {
        // Foundation reads only the first part of a file that says it is empty.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var isInside = false
        for line in text.split(separator: "\n") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").map { UInt($0, radix: 16) }
            if ends.count == 2, let start = ends[0], let end = ends[1] {
                isInside = (start..<end).contains(address)
            } else if isInside, line.hasPrefix("VmFlags:") {
                return line.split(separator: " ").dropFirst().map { $0 }
            }
        }
        return []
    }
}
