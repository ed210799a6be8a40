import Foundation
import Testing

/// Compares lines with a file kept beside the tests. With `ATTACCA_RECORD=1` in the environment the file is written
/// instead, to be read and committed.
func expectGolden(_ lines: [String], _ name: String, file: String = #filePath) throws {
  let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("Fixtures")
  let url = folder.appendingPathComponent(name + ".golden")
  let text = lines.joined(separator: "\n") + "\n"
  if ProcessInfo.processInfo.environment["ATTACCA_RECORD"] == "1" {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try text.write(to: url, atomically: true, encoding: .utf8)
    return
  }
  let golden = try String(contentsOf: url, encoding: .utf8)
  if text != golden {
    let wanted = golden.split(separator: "\n", omittingEmptySubsequences: false)
    let got = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = zip(wanted, got).firstIndex { $0 != $1 } ?? min(wanted.count, got.count)
    Issue.record(
      """
      \(name) differs from its golden dump at line \(first + 1):
      wanted: \(first < wanted.count ? wanted[first] : "(end)")
      got:    \(first < got.count ? got[first] : "(end)")
      all of it:
      \(text)
      """)
  }
}

extension Zip2Sequence {
  fileprivate func firstIndex(where isDifferent: (Element) -> Bool) -> Int? {
    var index = 0
    for pair in self {
      if isDifferent(pair) { return index }
      index += 1
    }
    return nil
  }
}
