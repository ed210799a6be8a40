import AttaccaCore
import TestSupport
import Testing

@testable import AttaccaEngine

/// A rig around the real engine.
func makeRig(
  ahead: Int = 88_200, margin: Int = 0, step: Int = 441, sources: any ByteSourceProvider = FileSourceProvider()
) -> EngineRig {
  EngineRig(ahead: ahead, margin: margin, step: step) { FFmpegEngine(sources: sources, makeOutput: $0) }
}

/// What an item sounds like when it is played through.
func render(_ names: [String], sources: any ByteSourceProvider = FileSourceProvider()) throws -> [Float] {
  try makeRig(sources: sources).render(names.map(TestMedia.item))
}

/// Where two renderings differ first, for people; `nil` when they are equal up to `tolerance`.
func difference(
  _ heard: some RandomAccessCollection<Float>, _ wanted: some RandomAccessCollection<Float>, channels: Int = 2,
  tolerance: Float = 0
) -> String? {
  if heard.count != wanted.count {
    return "\(heard.count / channels) frames instead of \(wanted.count / channels)"
  }
  var worst: Float = 0
  for (index, pair) in zip(heard, wanted).enumerated() where !(abs(pair.0 - pair.1) <= tolerance) {
    for (a, b) in zip(heard.dropFirst(index), wanted.dropFirst(index)) { worst = max(worst, abs(a - b)) }
    return "first at frame \(index / channels): \(pair.0) instead of \(pair.1); largest difference \(worst)"
  }
  return nil
}

/// One channel of interleaved samples, from `start` on.
func channel(_ number: Int, of samples: [Float], from start: Int = 0, count: Int, channels: Int = 2) -> [Float] {
  (0..<count).map { frame in
    let index = (start + frame) * channels + number
    return index >= 0 && index < samples.count ? samples[index] : 0
  }
}

/// The shift, within ±`range` frames, at which `heard` around `start` is most like `wanted`: 0 when nothing is lost.
func lag(of heard: [Float], against wanted: [Float], at start: Int, count: Int = 2048, range: Int = 32) -> Int {
  let pattern = channel(0, of: wanted, from: start, count: count)
  var best = (lag: 0, score: -Float.infinity)
  for lag in -range...range {
    let part = channel(0, of: heard, from: start + lag, count: count)
    let score = -zip(part, pattern).reduce(Float(0)) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    if score > best.score { best = (lag, score) }
  }
  return best.lag
}

/// The time of a number of frames.
func time(_ frames: Int, at rate: Int = 44_100) -> Duration { MediaTime(frames: Int64(frames), rate: rate).duration }
