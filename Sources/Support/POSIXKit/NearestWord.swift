/// The candidate that a mistyped word most likely meant; `nil` when none is near.
///
/// Near means a Damerau–Levenshtein distance (optimal string alignment) of at most a third of the longer word, and at
/// least 1. The first of equally near candidates wins.
public func nearestWord(to word: String, among candidates: [String]) -> String? {
  // A word far longer than any candidate cannot be near one; this also bounds the work.
  guard word.utf8.count <= 64 else { return nil }
  var best: (word: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(Array(word.utf8), Array(candidate.utf8))
    guard distance <= max(1, max(word.utf8.count, candidate.utf8.count) / 3) else { continue }
    if distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.word
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
  var twoAgo: [Int] = []
  var oneAgo = Array(0...b.count)
  for i in 1...a.count {
    var row = [i]
    for j in 1...b.count {
      var cost = min(oneAgo[j] + 1, row[j - 1] + 1, oneAgo[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, twoAgo[j - 2] + 1) }
      row.append(cost)
    }
    twoAgo = oneAgo
    oneAgo = row
  }
  return oneAgo[b.count]
}
