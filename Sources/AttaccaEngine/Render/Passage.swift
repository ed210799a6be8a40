/// How many program frames an output frame stands for: the playing rate, in ten-thousandths, so that 1.1 is exactly that
/// over hours.
struct Rate: Equatable {
  /// Program frames per 10,000 output frames.
  let frames: Int64
  static let one = Rate(1)
  private static let unit: Int64 = 10_000

  /// A rate from 0.25 to 4; clamped.
  init(_ value: Double) { frames = Int64((min(4, max(0.25, value.isNaN ? 1 : value)) * Double(Self.unit)).rounded()) }

  /// Program frames per output frame.
  var value: Double { Double(frames) / Double(Self.unit) }

  /// Whole program frames that `count` output frames stand for (rounded down).
  func input(_ count: Int64) -> Int64 {
    let (whole, rest) = (Int128(count) * Int128(frames)).quotientAndRemainder(dividingBy: Int128(Self.unit))
    return Int64(clamping: rest < 0 ? whole - 1 : whole)
  }

  /// The least number of output frames that stand for at least `count` program frames.
  func output(_ count: Int64) -> Int64 {
    let (whole, rest) = (Int128(count) * Int128(Self.unit)).quotientAndRemainder(dividingBy: Int128(frames))
    return Int64(clamping: rest > 0 ? whole + 1 : whole)
  }
}

/// How a stretch of output passes through the program: from where, how fast, and what it leaves out.
struct Passage: Equatable {
  /// Frames left out: those of a silence passed over, or those of an item's end that sound together with the next one's
  /// beginning.
  struct Jump: Equatable {
    /// The program index from which on they are left out, and how many.
    var at: Int64
    var by: Int64
  }

  /// The output frame at which program index `from` is heard.
  let origin: Int64
  let from: Int64
  var rate = Rate.one
  /// In order, each behind the one before.
  private(set) var jumps: [Jump] = []

  init(origin: Int64, from: Int64, rate: Rate = .one) {
    self.origin = origin
    self.from = from
    self.rate = rate
  }

  /// Leaves out frames behind all those left out before.
  mutating func add(_ jump: Jump) {
    if let last = jumps.last, last.at + last.by == jump.at {
      jumps[jumps.count - 1].by += jump.by
    } else {
      jumps.append(jump)
    }
  }

  /// The program index heard at an output frame.
  func index(at frame: Int64) -> Int64 {
    var index = from + rate.input(frame - origin)
    for jump in jumps {
      if index < jump.at { break }
      index += jump.by
    }
    return index
  }

  /// The first output frame at which program index `index`, or one behind it, is heard.
  func frame(of index: Int64) -> Int64 {
    var passed = index - from
    for jump in jumps.reversed() where jump.at < index { passed -= min(jump.by, index - jump.at) }
    return origin + rate.output(passed)
  }
}
