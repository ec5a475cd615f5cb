/// Text of the kind that people put into notes.
enum Prose {
    static let tags = [
        "work", "home", "ideas", "reading", "travel", "recipes", "garden", "music", "health",
        "σημειώσεις", "旅行", "مهم", "café", "🌱",
    ]

    static func title(using generator: inout SeededGenerator) -> String {
        generator.pick(titles) + " " + generator.pick(things)
    }

    static func paragraphs(_ count: Int, using generator: inout SeededGenerator) -> String {
        (0..<count).map { _ in
            (0..<generator.number(in: 2...6)).map { _ in sentence(using: &generator) }
                .joined(separator: " ")
        }
        .joined(separator: "\n\n")
    }

    static func sentence(using generator: inout SeededGenerator) -> String {
        generator.pick(sentences).map { part in
            switch part {
            case "@": generator.pick(people)
            case "#": generator.pick(things)
            case "%": generator.pick(moments)
            case "&": generator.pick(remarks)
            case "0": String(generator.number(in: 2...480))
            default: part
            }
        }
        .joined(separator: " ") + "."
    }
}

// MARK: - Words

extension Prose {
    private static let titles = [
        "Ideas for", "Questions about", "Notes on", "Before we start", "A list for", "Plan for",
        "What we said about", "Cost of", "Measurements of", "Thoughts after", "Trying out",
    ]

    private static let people = [
        "Amara", "Björn", "Chiara", "Dmitri", "Eleni", "Fatima", "Giorgos", "Haruka", "Ines",
        "Jonas", "Katarzyna", "Léa", "Mehmet", "Noor", "Oluwaseun", "Priya", "Quentin", "Sølvi",
    ]

    private static let things = [
        "the kitchen shelves", "the spring catalogue", "a longer cable", "the ferry timetable",
        "our second prototype", "the tomato seedlings", "the insurance form", "chapter nine",
        "the night train to Vienna", "a sourdough starter", "the choir rehearsal", "a stool",
        "the old bicycle", "the greenhouse roof", "the quarterly figures", "the reading group",
        "a smaller font", "the balcony railing", "the museum visit", "the spare key", "a present",
        "the northern trail", "the archive boxes", "the piano tuner", "the dentist's letter",
    ]

    private static let moments = [
        "before Friday", "next week", "after the holidays", "on the 14th", "in the early morning",
        "as soon as the parts arrive", "when it stops raining", "by the end of the month",
        "at a quarter past seven", "the day after tomorrow", "sometime in autumn",
    ]

    private static let remarks = [
        "it was cheaper than expected", "nobody remembers who decided it", "it needs two people",
        "the label on the back is wrong", "we should write it down this time",
        "the first attempt was too salty", "the blue one fits better", "it takes most of a day",
        "there is a photo in the album", "the shop closes early", "I like the second version more",
    ]

    private static let sentences: [[String]] = [
        ["Ask", "@", "about", "#", "%"],
        ["Remember that", "&", "and that", "@", "offered to help with", "#"],
        ["We need", "0", "more pieces for", "#", "because", "&"],
        ["@", "and", "@", "will look at", "#", "%"],
        ["Paid", "0", "euros for", "#", "although", "&"],
        ["The idea came from", "@", "who said that", "&"],
        ["Finish", "#", "%", "since", "&"],
        ["Page", "0", "explains", "#", "better than I could"],
        ["If", "&", "we start again with", "#", "%"],
        ["It is", "0", "kilometres from", "#", "and", "&"],
        ["Bring", "#", "and something warm", "%"],
        ["Nothing about", "#", "is urgent but", "@", "would like an answer", "%"],
    ]
}
