import Foundation
import TestSupport
import Testing

@Suite struct FormatListTests {
  /// The list for people says what the table of those that are tried says, no more and no less.
  @Test func theReadmeListsWhatIsTried() throws {
    let readme = try String(contentsOfFile: TestMedia.root + "/README.md", encoding: .utf8)
    let starts: [FormatLine.Proof: String] = [
      .bitExact: "| the original, bit for bit |", .exact: "| as long as the original,",
      .asDecoded: "| all that was decoded:",
      .notTried: "| recognised, but",
    ]
    let lines = try FormatLine.all()
    for (proof, start) in starts {
      let row = try #require(readme.split(separator: "\n").first { $0.hasPrefix(start) })
      let cell = try #require(row.split(separator: "|").last { !$0.allSatisfy(\.isWhitespace) })
      // Ogg Vorbis and Opus are tried by the tests of the first formats, on both sides of each joint.
      let listed = cell.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { $0 != "Vorbis and Opus in Ogg" }
      #expect(listed == lines.filter { $0.proof == proof }.map(\.name))
    }
  }
}
