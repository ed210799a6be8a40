import AttaccaCore

/// The options of `play` that are about rate and sound.
func applySound(_ option: PlayOption, _ value: [UInt8], to options: inout PlayOptions) throws(UsageError) {
  switch option {
  case .rate: options.rate = try number(value, within: PlayerReducer.rates, for: option)
  case .replaygain:
    guard let mode = LoudnessMode(rawValue: text(value)) else { throw wrong(value, for: option) }
    options.sound.loudness = mode
  case .preamp: options.sound.preamp = try number(value, within: -15...15, for: option)
  case .eq:
    do throws(EqualizerSyntaxError) {
      options.sound.equalizer = try EqualizerSettings(parsing: text(value))
    } catch {
      throw UsageError("\(option.flag): \(error)")
    }
  case .balance: options.sound.balance = try number(value, within: -100...100, for: option) / 100
  case .mono: options.sound.isMono = true
  case .crossfade: options.sound.crossfade = .seconds(try number(value, within: 0...12, for: option))
  case .skipSilence: options.sound.skipsSilence = true
  case .levelSpeech: options.sound.levelsSpeech = true
  case .bitPerfect: options.sound.isBitPerfect = true
  default: break
  }
}

private func number(
  _ value: [UInt8], within range: ClosedRange<Double>, for option: PlayOption
) throws(UsageError) -> Double {
  guard let number = parseNumber(value), range.contains(number) else { throw wrong(value, for: option) }
  return number
}

/// Reads a decimal number as typed: an optional sign, digits, an optional fraction. `nil` for anything else; exponents,
/// infinities and hexadecimal are not numbers people type here.
func parseNumber(_ text: [UInt8]) -> Double? {
  var digits = text[...]
  if let sign = digits.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits.removeFirst() }
  let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  guard (1...2).contains(parts.count), parts.allSatisfy({ $0.allSatisfy(isDigit) }), parts.joined().count > 0,
    text.count <= 32
  else { return nil }
  return Double(String(decoding: text.last == UInt8(ascii: ".") ? text.dropLast() : text[...], as: UTF8.self))
}
