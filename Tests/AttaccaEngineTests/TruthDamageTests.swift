import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// Damage in a file is heard as silence of its length; what follows stands where it stood.
@Suite struct TruthDamageTests {
  @Test(arguments: TruthFile.all) func undamagedIsWhole(_ file: TruthFile) throws {
    let read = try ReadThrough(MemoryByteSource(try file.bytes()))
    #expect(read.frames == file.frames)
    #expect(read.concealed == 0 && read.error == nil)
    #expect(read.durations.count == 1 && read.durations[0]?.confidence == .exact)
  }

  /// 600 bytes anywhere behind the headers: the total stays within a frame, and so does the place of what follows.
  @Test(arguments: TruthFile.all) func twentyDamages(_ file: TruthFile) throws {
    var random = SeededRandom.announced("damage in \(file)")
    let whole = try file.bytes()
    let sound = try ReadThrough(MemoryByteSource(whole), keeping: true)
    // How long an Ogg stream is, only its last page's header tells.
    let last = OggPages.all(whole).last.map { Int($0.offset)..<Int($0.bodyOffset) } ?? 0..<0
    for number in 0..<(isLong ? 20 : 4) {
      var bytes = whole
      var at = Int.random(in: file.head..<bytes.count - 700, using: &random)
      while (at..<at + 600).overlaps(last) { at = Int.random(in: file.head..<bytes.count - 700, using: &random) }
      for index in at..<at + 600 { bytes[index] = UInt8.random(in: 0...255, using: &random) }
      let read = try ReadThrough(MemoryByteSource(bytes), keeping: true)
      #expect(abs(read.frames - sound.frames) <= file.frame, "seed \(random.seed), damage \(number) at \(at)")
      #expect(read.error == nil)
      // The last third of a file damaged before its middle, and the first third of one damaged behind it, are as they were.
      let third = Int(sound.frames / 3)
      let isEarly = at < whole.count / 2
      let place = isEarly ? 2 * third : 2000
      let shift = Self.shift(of: read.samples, from: sound.samples, at: place, range: Int(file.frame) + 8)
      #expect(shift.map { abs($0) <= Int(file.frame) } ?? false, "seed \(random.seed), damage \(number) at \(at)")
      if !isEarly { #expect(shift == 0) }
    }
  }

  /// Damage anywhere at all: a typed error or an end, never a hang; as long as it was, unless the headers are hit.
  @Test(arguments: TruthFile.all) func twentyDamagesAnywhere(_ file: TruthFile) throws {
    var random = SeededRandom.announced("damage anywhere in \(file)")
    let whole = try file.bytes()
    for number in 0..<(isLong ? 20 : 4) {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let near = Bool.random(using: &random) ? min(file.head, bytes.count) : bytes.count
        bytes[Int.random(in: 0..<near, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do {
        let read = try ReadThrough(MemoryByteSource(bytes))
        #expect(read.frames < 60 * Int64(file.rate), "seed \(random.seed), damage \(number)")
      } catch let error as MediaError {
        #expect(error.code.rawValue.hasPrefix("source."))
      }
    }
  }

  /// Cut off anywhere: what is there is played, and the duration says so at the latest at the end.
  @Test(arguments: TruthFile.all) func twentyTruncations(_ file: TruthFile) throws {
    var random = SeededRandom.announced("truncation of \(file)")
    let whole = try file.bytes()
    let sound = try ReadThrough(MemoryByteSource(whole), keeping: true)
    for number in 0..<(isLong ? 20 : 4) {
      let count = Int.random(in: file.head..<whole.count, using: &random)
      let comment = Comment("seed \(random.seed), cut \(number) at \(count) of \(whole.count)")
      do {
        let read = try ReadThrough(MemoryByteSource(Array(whole[..<count])), keeping: true)
        #expect(read.frames <= sound.frames + file.frame, comment)
        // No silence in place of what is not there.
        #expect(read.concealed <= 2 * file.frame, comment)
        let told = try #require(read.durations.last ?? nil, comment)
        #expect(told == MediaDuration(MediaTime(frames: read.frames, rate: file.rate).duration, .exact), comment)
        let sure = Int(max(0, read.frames - 8 * file.frame))
        #expect(read.samples.isEqual(to: sound.samples, upTo: sure), comment)
      } catch let error as MediaError {
        // Ogg pages and WavPack blocks that are not whole are none.
        #expect(error.code == .sourceDamaged && count < 120_000, comment)
      }
    }
  }

  /// How far the samples at `place` were moved; `nil` when they are found nowhere near.
  private static func shift(of heard: [Float], from sound: [Float], at place: Int, range: Int) -> Int? {
    let count = 1500
    guard place + count <= sound.count else { return nil }
    var best: (shift: Int, error: Float)?
    for shift in [0] + (1...range).flatMap({ [$0, -$0] }) {
      guard place + shift >= 0, place + shift + count <= heard.count else { continue }
      var error: Float = 0
      for index in stride(from: place, to: place + count, by: 3) where error < best?.error ?? .infinity {
        error += abs(heard[index + shift] - sound[index])
      }
      if error < best?.error ?? .infinity { best = (shift, error) }
      if error < 0.01 { break }
    }
    return best.flatMap { $0.error < 30 ? $0.shift : nil }
  }
}
