import MigrationSystem
import Testing

@testable import MigrationHosting

struct ConfinementReportTests {
    private func report(_ landlockVersion: Int, _ filtersSystemCalls: Bool) -> ConfinementReport {
        ConfinementReport(
            of: Sandbox.Support(
                landlockVersion: landlockVersion,
                filtersSystemCalls: filtersSystemCalls
            )
        )
    }

    @Test func `names of a system that has all only what nothing confines`() {
        let report = report(7, true)
        #expect(report.isConfined)
        #expect(report.gaps.count == 3)
    }

    @Test func `names what an old kernel leaves open besides`() {
        let report = report(2, true)
        #expect(report.isConfined)
        #expect(report.gaps.contains { $0.contains("truncate") })
        #expect(report.gaps.contains { $0.contains("signals") })
    }

    @Test func `says what half a confinement leaves open`() {
        let filtered = report(0, true)
        #expect(!filtered.isConfined)
        #expect(filtered.filtersSystemCalls)
        #expect(filtered.gaps.contains { $0.contains("all files") })
        #expect(filtered.gaps.contains { $0.contains("signals") })
        let restricted = report(7, false)
        #expect(!restricted.isConfined)
        #expect(restricted.landlockVersion == 7)
        #expect(restricted.gaps.contains { $0.contains("sockets") })
        #expect(!restricted.gaps.contains { $0.contains("all files") })
    }

    @Test func `says that other files are hidden, or why they are not`() {
        let hidden = report(7, true).seeing(.hidden)
        #expect(hidden.hidesOtherFiles)
        #expect(hidden.gaps.count == 1)
        let open = report(7, true).seeing(.visible(because: "a reason"))
        #expect(!open.hidesOtherFiles)
        let reason = "no root directory of its own, a reason"
        #expect(open.gaps.filter { $0.hasSuffix(reason) }.count == 2)
        #expect(!report(0, false).seeing(.hidden).hidesOtherFiles)
    }

    @Test func `says of a system that has nothing that everything is open`() {
        #expect(report(0, false).gaps == ["everything: the system can't confine"])
    }
}
