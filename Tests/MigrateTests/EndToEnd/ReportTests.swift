import Foundation
import TestSupport
import Testing

/// `migrate report`, and the page in a browser.
@Suite(.scratchDirectory)
struct ReportTests {
    let place: Workplace

    /// A container with names that would change a page that doesn't escape them.
    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p 'source/Documents/<img src=x onerror=document.title=1>' source/Library
            head -c 200000 /dev/zero >'source/Documents/<img src=x onerror=document.title=1>/big.json'
            head -c 90000 /dev/zero >'source/Documents/photo.jpg'
            printf 1 >"$(printf 'source/Documents/bad\\377name.txt')"
            printf 22 >"$(printf 'source/Documents/\\342\\200\\256exe.txt')"
            printf 333 >"source/Documents/$(printf 'n%.0s' $(seq 250)).txt"
            printf 4444 >'source/Library/&quot;-->'
            $migrate export --container source --out archive
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    private func page(_ words: String = "") throws -> String {
        let result = try place.shell("$migrate report archive \(words)")
        #expect(result.exitCode == 0, "\(result.errors)")
        return result.output
    }

    /// A cell of a number, as the page aligns and sorts it.
    private func cell(_ text: String, _ number: Double) -> String {
        "<td class=\"number\" data-number=\"\(number)\">\(text)</td>"
    }

    @Test func `prints no page to a terminal`() throws {
        let result = try place.shell(
            """
            script -qec "$migrate report archive" /dev/null; echo "code $?"
            script -qec "$migrate report archive" /dev/null | grep -c '<!doctype'
            """
        )
        #expect(result.output.contains("name the page to write with '--out'"), "\(result.output)")
        #expect(result.output.hasSuffix("code 64\n0\n"))
    }

    @Test func `shows sizes, types and the largest files, with names as text`() throws {
        let page = try page()
        #expect(page.contains("<tr><td>jpg</td>\(cell("1", 1))\(cell("90.0 kB", 90_000))</tr>"))
        let name = "Documents/&lt;img src=x onerror=document.title=1&gt;/big.json"
        let link = "<a href=\"#map-title\" data-path=\"\(name)\">\(name)</a>"
        #expect(page.contains("<tr><td>\(link)</td>\(cell("200.0 kB", 200_000))</tr>"))
        #expect(page.contains("Library/&amp;quot;--&gt;"))
        #expect(page.contains(#"bad\xFFname.txt"#))
        #expect(!page.contains("\u{202E}"))
        #expect(page.components(separatedBy: "<img").count == 1)
        #expect(page.components(separatedBy: "</script>").count == 3)
        let fingerprint = try place.shell("$migrate inspect archive | sed -n 's/^fingerprint *//p'")
        #expect(page.contains(fingerprint.output.prefix(64)))
    }

    @Test func `asks no network and runs only its own script`() throws {
        let page = try page()
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("http:") && !page.contains("https:") && !page.contains("url("))
        let policy = try place.shell(
            #"""
            $migrate report archive --out page.html && python3 - <<'END'
            import base64, hashlib, re
            page = open("page.html", encoding="utf-8").read()
            policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
            for name, text in [("style", re.search(r"<style>(.*?)</style>", page, re.S).group(1)),
                               ("script", re.search(r"<script>(.*?)</script>", page, re.S).group(1))]:
                digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"{name}-src 'sha256-{digest}'" in policy, name
            END
            """#
        )
        #expect(policy.exitCode == 0, "\(policy.errors)")
    }

    @Test func `shows the differences from a container`() throws {
        let made = try place.shell(
            """
            cp -a source other && printf more >>other/Documents/photo.jpg
            printf new >other/Documents/new && rm other/Library/*
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let page = try page("--against other")
        #expect(page.contains("Documents/photo.jpg: contents differ"))
        #expect(page.contains("only in the container: Documents/new"))
        #expect(page.contains("only in the archive: Library/&amp;quot;--&gt;"))
        #expect(page.contains(#""s":"different""#))
        #expect(try self.page("--against source").contains(#"<p id="same">None.</p>"#))
    }

    @Test func `replaces a page only where that is asked for`() throws {
        let first = try place.shell("$migrate report archive --out page.html")
        #expect(first.exitCode == 0, "\(first.errors)")
        let again = try place.shell("$migrate report archive --out page.html")
        #expect(again.exitCode == 73)
        #expect(again.errors.contains("--force"))
        #expect(try place.shell("$migrate report archive --out page.html --force").exitCode == 0)
        let missing = try place.shell("$migrate report archive --out none/page.html")
        #expect(missing.exitCode == 73, "\(missing.errors)")
        let damaged = try place.shell(
            "head -c 900 archive >cut; $migrate report cut --out cut.html"
        )
        #expect(damaged.exitCode == 65)
        #expect(!place.exists("cut.html"))
    }

    @Test(.enabled(if: Machine.has("chromium"), "chromium is not installed"))
    func `draws a map in a browser, by mouse and by keys`() throws {
        // The page's own policy would refuse the test's script.
        let result = try place.shell(
            #"""
            $migrate report archive --out page.html &&
            sed -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' page.html >driven.html &&
            cat >>driven.html <<'END'
            <script>
            const label = () => document.getElementById("where").textContent;
            const boxes = () => [...document.querySelectorAll("#map button")];
            const results = [label(), boxes().length > 3];
            boxes().find((box) => box.textContent.startsWith("Documents")).click();
            results.push(label());
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
            results.push(label(), document.activeElement.className);
            const steps = () => [...document.querySelectorAll("#trail button")];
            boxes().find((box) => box.textContent.startsWith("Documents")).click();
            results.push(steps().map((step) => step.textContent).join(">"));
            steps()[0].click();
            results.push(label());
            document.querySelector("a[data-path='Documents/photo.jpg']").click();
            results.push(label(), document.activeElement.title);
            document.activeElement.click();
            results.push(document.querySelector(".marked a").textContent);
            const sizes = document.querySelector("#files th.number");
            const first = () => document.querySelector("#files tbody tr td:last-child").textContent;
            sizes.click(); results.push(first()); sizes.click(); results.push(first());
            const field = document.getElementById("search");
            field.value = "PHOTO"; field.dispatchEvent(new Event("input"));
            results.push([...document.querySelectorAll("#files tbody tr")].filter((row) => !row.hidden).length);
            field.value = ""; field.dispatchEvent(new Event("input"));
            steps()[0].click();
            const cut = boxes().map((box) => box.firstElementChild).filter(Boolean);
            results.push(cut.every((text) => getComputedStyle(text).textOverflow === "ellipsis"
                && text.clientHeight < 20));
            boxes()[0].focus();
            const before = document.activeElement;
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
            results.push(document.activeElement !== before, document.title);
            document.body.dataset.results = JSON.stringify(results);
            </script>
            END
            for page in page driven; do
                chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
                    --virtual-time-budget=5000 --dump-dom "file://$PWD/$page.html" >$page.dom || exit
            done
            python3 - <<'END'
            import html, json, re
            plain = open("page.dom", encoding="utf-8").read()
            assert plain.count("<button") > 3, "the policy lets the page's own script run"
            assert "<img" not in plain
            driven = open("driven.dom", encoding="utf-8").read()
            results = json.loads(html.unescape(re.search(r'data-results="([^"]*)"', driven).group(1)))
            print(json.dumps(results))
            END
            """#
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let all = "/: 290.0 kB in 6 files"
        #expect(
            result.output == """
                ["\(all)", true, "Documents: 290.0 kB in 5 files", "\(all)", "directory", \
                "All>Documents", "\(all)", "Documents: 290.0 kB in 5 files", "photo.jpg, 90.0 kB", \
                "Documents/photo.jpg", "200.0 kB", "1 B", 1, true, true, "archive"]

                """
        )
    }

    @Test(arguments: [
        "report archive --force --out", "import archive --container copy --report",
        "export --container source --out again --report",
    ])
    func `writes into a device or a pipe, and never replaces it`(_ words: String) throws {
        let result = try place.shell(
            """
            mkfifo pipe; ls -l /dev/null > before
            "$migrate" \(words) /dev/null >/dev/null && ls -l /dev/null | cmp - before || exit 1
            rm -rf copy again; exec 4<>pipe; cat pipe > page 4>&- &
            "$migrate" \(words) pipe >/dev/null; exec 4>&-; wait $!
            test -p pipe && grep -q '</html>' page
            """
        )
        #expect(result.exitCode == 0, "\(words): \(result.errors)")
        let refused = try place.shell(
            "rm -rf copy again; mkdir page.d; \"$migrate\" \(words) page.d"
        )
        #expect(refused.exitCode == 73, "\(words): \(refused.errors)")
        #expect(refused.errors.contains("isn't a regular file"), "\(refused.errors)")
        #expect(!place.exists("copy") && !place.exists("again"))
    }

    @Test func `'-' is standard output, and not a file of that name`() throws {
        let page = try place.shell("\"$migrate\" report archive --out -")
        #expect(page.output.contains("</html>"))
        for words in [
            "import archive --container c --report -", "import archive --container c --result -",
            "verify archive --allowed-signers x --signer y --signature -",
        ] {
            let refused = try place.shell("\"$migrate\" \(words)")
            #expect(refused.exitCode == 64, "\(words): \(refused.errors)")
        }
        #expect(!place.exists("-"))
    }
}
