import Foundation
import Testing

/// Sources that the compiler must refuse.
///
/// The first lines of a source say which errors it expects, each `// error: ` and a part of the
/// message. A source without such a line must compile, so that each source is refused only for its
/// own reason.
@Suite(
    .enabled(if: Toolchain.compiler != nil, "there is no swiftc in the search path"),
    .enabled(if: Toolchain.hasModules, "the modules beside the tests can't be used by this user")
)
struct CompilerTests {
    private static let fixtures = Toolchain.fixtures.appending(path: "MustNotCompile")
    private static let sources = names().filter { !expectedErrors(of: $0).isEmpty }
    private static let controls = names().filter { expectedErrors(of: $0).isEmpty }

    private static func names() -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)
        return (files ?? []).filter { $0.hasSuffix(".swift") }.sorted()
    }

    private static func expectedErrors(of name: String) -> [String] {
        let file = fixtures.appending(path: name)
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n")
            .prefix { $0.hasPrefix("// error: ") }
            .map { "error: " + $0.dropFirst("// error: ".count) }
    }

    @Test(arguments: sources)
    func `refuses what the contract rules out`(_ name: String) throws {
        let run = try Toolchain.compile(Self.fixtures.appending(path: name))
        #expect(run.exitCode == 1)
        let errors = Set(run.output.split(separator: "\n").filter { $0.contains(".swift:") })
            .filter { $0.contains(": error: ") }
        for expected in Self.expectedErrors(of: name) {
            #expect(errors.contains { $0.contains(expected) }, "\(run.output)")
        }
        #expect(errors.count == Self.expectedErrors(of: name).count, "\(run.output)")
    }

    @Test(arguments: controls)
    func `accepts the same without the errors`(_ name: String) throws {
        let run = try Toolchain.compile(Self.fixtures.appending(path: name))
        #expect(run.exitCode == 0, "\(run.output)")
        #expect(run.output.isEmpty)
    }

    @Test func `has sources to refuse and one to accept`() {
        #expect(Self.sources.count >= 10)
        #expect(Self.controls == ["Control.swift"])
    }
}
