/// Why a text is no equalizer setting.
public struct EqualizerSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong and what would be right, as one clause.
  public let description: String
}

extension EqualizerSettings {
  /// Reads settings as people write them: terms with commas between, which add up.
  ///
  /// A term is a region and decibels (`bass+3`, `mid-1.5`, `treble-2`), a frequency and decibels (`60:+3`, `1k:-2.5`; the
  /// nearest band is meant), or the name of a preset (`rock`). The sums are brought into −12…12.
  ///
  /// - Throws: ``EqualizerSyntaxError`` for the first term that is none of these.
  public init(parsing text: some StringProtocol) throws(EqualizerSyntaxError) {
    var sums = [Double](repeating: 0, count: Self.frequencies.count)
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let term = trimmed(part).lowercased()
      let gains = try Self.gains(of: term)
      for index in sums.indices { sums[index] += gains[index] }
    }
    self.init(sums)
  }

  /// Names of the presets.
  public static var presetNames: [String] { presets.map(\.name) }

  /// The settings of a preset.
  public static func preset(_ name: String) -> EqualizerSettings? {
    presets.first { $0.name == name }.map { EqualizerSettings($0.gains) }
  }

  private static let presets: [(name: String, gains: [Double])] = [
    ("flat", []),
    ("bass-boost", [6, 6, 4, 2]),
    ("bass-cut", [-6, -6, -4, -2]),
    ("treble-boost", [0, 0, 0, 0, 0, 0, 2, 4, 6, 6]),
    ("treble-cut", [0, 0, 0, 0, 0, 0, -2, -4, -6, -6]),
    ("loudness", [6, 5, 3, 1, 0, 0, 0, 1, 3, 4]),
    ("rock", [4, 3, 2, 0, -1, -1, 0, 2, 3, 4]),
    ("pop", [-1, 0, 1, 2, 3, 3, 2, 1, 0, -1]),
    ("jazz", [3, 2, 1, 1, -1, -1, 0, 1, 2, 3]),
    ("classical", [3, 2, 1, 0, 0, 0, -1, -1, 1, 2]),
    ("electronic", [5, 4, 2, 0, -1, 0, 1, 2, 4, 4]),
    ("vocal", [-3, -2, -1, 1, 3, 3, 3, 2, 0, -1]),
    ("speech", [-9, -6, -3, 0, 1, 2, 3, 3, 1, -2]),
  ]

  /// How much of a region's gain each band gets: full at its heart, less and less toward its neighbours.
  private static let regions: [(name: String, shares: [Double])] = [
    ("bass", [1, 1, 0.67, 0.33, 0, 0, 0, 0, 0, 0]),
    ("mid", [0, 0, 0, 0.33, 0.67, 1, 0.67, 0.33, 0, 0]),
    ("treble", [0, 0, 0, 0, 0, 0, 0.33, 0.67, 1, 1]),
  ]

  private static func gains(of term: String) throws(EqualizerSyntaxError) -> [Double] {
    if let preset = preset(term) { return preset.gains }
    for region in regions where term.hasPrefix(region.name) {
      let rest = term.dropFirst(region.name.count)
      guard rest.first == "+" || rest.first == "-", let gain = decibels(rest) else {
        throw EqualizerSyntaxError(
          description: "\"\(sanitized(term))\": \(region.name) needs a gain of −12 to 12, like \(region.name)+3")
      }
      return region.shares.map { $0 * gain }
    }
    let parts = term.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw EqualizerSyntaxError(
        description: "\"\(sanitized(term))\" is neither a band (60:+3, 1k:-2), a region (bass+3, mid-1, treble+2)"
          + " nor one of the presets \(presetNames.joined(separator: ", "))")
    }
    guard let band = band(parts[0]) else {
      throw EqualizerSyntaxError(
        description: "\"\(sanitized(term))\": the frequency must be 20 to 20k, like 60, 500 or 1.5k")
    }
    guard let gain = decibels(parts[1]) else {
      throw EqualizerSyntaxError(description: "\"\(sanitized(term))\": the gain must be −12 to 12, like +3 or -1.5")
    }
    return frequencies.indices.map { $0 == band ? gain : 0 }
  }

  private static func decibels(_ text: Substring) -> Double? {
    guard let number = decimal(text), number.magnitude <= limit else { return nil }
    return number
  }

  private static func band(_ text: Substring) -> Int? {
    var digits = trimmed(text)
    for suffix in ["khz", "hz", "k"] where digits.hasSuffix(suffix) {
      digits = trimmed(digits.dropLast(suffix.count))
      guard let number = decimal(digits) else { return nil }
      return nearestBand(suffix == "hz" ? number : number * 1_000)
    }
    return decimal(digits).flatMap(nearestBand)
  }

  private static func nearestBand(_ frequency: Double) -> Int? {
    guard (20...20_000).contains(frequency) else { return nil }
    // The border between two bands is their geometric mean.
    return frequencies.indices.dropLast().first { frequency * frequency < frequencies[$0] * frequencies[$0 + 1] }
      ?? frequencies.count - 1
  }
}

extension EqualizerSettings: CustomStringConvertible {
  /// The settings in the form that ``init(parsing:)`` reads: `flat`, or the bands that are not.
  public var description: String {
    if isFlat { return "flat" }
    return zip(Self.frequencies, gains).filter { $0.1 != 0 }
      .map { frequency, gain in
        let name = frequency < 1_000 ? short(frequency) : "\(short(frequency / 1_000))k"
        return "\(name):\(gain > 0 ? "+" : "")\(short(gain))"
      }
      .joined(separator: ",")
  }
}

/// A number without `.0` behind a whole one.
private func short(_ number: Double) -> String {
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// A text without white space around it.
private func trimmed(_ text: some StringProtocol) -> Substring {
  var result = Substring(text)
  while result.first?.isWhitespace ?? false { result.removeFirst() }
  while result.last?.isWhitespace ?? false { result.removeLast() }
  return result
}

/// A decimal number; `nil` for what only a programming language takes for one (`nan`, `0x1p3`).
private func decimal(_ text: Substring) -> Double? {
  let text = trimmed(text)
  guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.e".contains($0)) }),
    let number = Double(text), number.isFinite
  else { return nil }
  return number
}
