import Attacca

/// Reads the format of a PCM pipe as typed: `s16`, `s24` or `f32`, then a rate of 8000…384000 and 1…8 channels, if they are
/// not to be 44100 and 2 (`f32:48000`, `s16:48000:6`). `nil` for anything else.
func parsePCMFormat(_ text: [UInt8]) -> PipeFormat? {
  let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
  guard (1...3).contains(fields.count), let encoding = PCMEncoding(rawValue: String(decoding: fields[0], as: UTF8.self))
  else { return nil }
  var format = PipeFormat(encoding: encoding)
  if fields.count > 1 {
    guard let rate = number(fields[1]), (8000...384_000).contains(rate) else { return nil }
    format.sampleRate = rate
  }
  if fields.count > 2 {
    guard let channels = number(fields[2]), (1...8).contains(channels) else { return nil }
    format.channels = channels
  }
  return format
}

private func number(_ digits: ArraySlice<UInt8>) -> Int? {
  guard (1...6).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
  return Int(String(decoding: digits, as: UTF8.self))
}
