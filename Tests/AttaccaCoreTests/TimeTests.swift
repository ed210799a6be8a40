import AttaccaCore
import TestSupport
import Testing

@Suite struct TimeTests {
  @Test(
    arguments: [
      (.zero, "0:00"), (.milliseconds(7_999), "0:07"), (.seconds(59), "0:59"), (.seconds(60), "1:00"),
      (.seconds(754), "12:34"),
      (.seconds(3_599), "59:59"), (.seconds(3_600), "1:00:00"), (.seconds(3_723), "1:02:03"),
      (.seconds(360_000), "100:00:00"),
      (.milliseconds(-900), "0:00"), (.seconds(-7), "-0:07"), (.seconds(-3_723), "-1:02:03"),
      (.seconds(Int64.max), "2562047788015215:30:07"), (.seconds(Int64.min), "-2562047788015215:30:08"),
    ] as [(Duration, String)])
  func formatted(time: Duration, text: String) { #expect(formatTime(time) == text) }

  static let rates = [
    1, 3, 7, 8_000, 11_025, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000, 2_822_400, 999_983,
  ]

  @Test(arguments: rates) func framesSurviveDurations(rate: Int) {
    var random = SeededRandom.announced("frames at \(rate)")
    let table: [Int64] = [0, 1, 2, 1_681, 44_099, 44_100, 44_101, 61_234, 66_650, 132_300, 1 << 40, -1, -44_101]
    for frames in table + (0..<2_000).map({ _ in Int64(bitPattern: random.next()) >> Int64(4 + random.below(58)) }) {
      let time = MediaTime(frames: frames, rate: rate)
      #expect(time.duration.frames(at: rate) == frames)
      #expect(MediaTime(time.duration, rate: rate) == time)
    }
  }

  @Test func durationsAreExactToTheAttosecond() {
    #expect(
      MediaTime(frames: 1, rate: 44_100).duration
        == Duration(secondsComponent: 0, attosecondsComponent: 22_675_736_961_451))
    #expect(
      MediaTime(frames: -1, rate: 3).duration
        == Duration(secondsComponent: 0, attosecondsComponent: -333_333_333_333_333_333))
    #expect(MediaTime(frames: 132_300, rate: 44_100).duration == .seconds(3))
    #expect(MediaTime(frames: .max, rate: 1).duration == .seconds(Int64.max))
  }

  /// The nearest frame, decided by the last attosecond.
  @Test func framesAreTheNearest() {
    func time(_ attoseconds: Int64) -> Duration { Duration(secondsComponent: 0, attosecondsComponent: attoseconds) }
    let half: Int64 = 62_500_000_000_000  // half a frame at 8,000 per second
    for (attoseconds, frames) in [(half - 1, 0), (half, 1), (3 * half - 1, 1), (3 * half, 2)] as [(Int64, Int64)] {
      #expect(time(attoseconds).frames(at: 8_000) == frames)
      #expect(time(-attoseconds).frames(at: 8_000) == -frames)
    }
    #expect(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999_999_999_999).frames(at: 44_100) == 44_100)
  }

  @Test func microsecondsAreTheNearest() {
    #expect(Duration.nanoseconds(1_499).microseconds == 1)
    #expect(Duration.nanoseconds(1_500).microseconds == 2)
    #expect(Duration.nanoseconds(-1_499).microseconds == -1)
    #expect(Duration.nanoseconds(-1_500).microseconds == -2)
    #expect(Duration.microseconds(Int64.max - 1).microseconds == .max - 1)
    var random = SeededRandom.announced("microseconds")
    for _ in 0..<1_000 {
      let value = Int64(bitPattern: random.next()) >> Int64(random.below(60))
      #expect(Duration.microseconds(value).microseconds == value)
    }
  }

  @Test func whatDoesNotFitIsTheNearest() {
    for rate in [.min, 0, 44_100, .max] {
      let time = MediaTime(frames: .max, rate: rate)
      #expect(time.rate >= 1)
      #expect(time.duration > .zero)
    }
    #expect(Duration.seconds(Int64.max).frames(at: 44_100) == .max)
    #expect(Duration.seconds(Int64.min).frames(at: .max) == .min)
    #expect(Duration.seconds(Int64.max).microseconds == .max)
    #expect(
      Duration(secondsComponent: 9_223_372_036_854, attosecondsComponent: 999_999_000_000_000_000).microseconds == .max)
    #expect(Duration.seconds(10).frames(at: -5) == 10)
  }

  @Test func anchorsMoveWithTheirRate() {
    func anchor(_ rate: Double) -> PositionAnchor {
      PositionAnchor(position: .seconds(10), hostTime: .seconds(100), rate: rate)
    }
    #expect(anchor(1).position(at: .nanoseconds(100_000_000_001)) == .nanoseconds(10_000_000_001))
    #expect(anchor(0).position(at: .seconds(1_000)) == .seconds(10))
    #expect(anchor(2).position(at: .seconds(103)) == .seconds(16))
    #expect(anchor(0.5).position(at: .seconds(104)) == .seconds(12))
    #expect(anchor(1).position(at: .seconds(90)) == .seconds(10))
    #expect(anchor(1).position(at: .seconds(105), limit: .seconds(12)) == .seconds(12))
    #expect(anchor(1).position(at: .seconds(101), limit: .seconds(12)) == .seconds(11))
    #expect(anchor(1).position(at: .seconds(105), limit: .seconds(3)) == .seconds(10))
    for odd in [-1, Double.nan, -Double.infinity] { #expect(anchor(odd).position(at: .seconds(105)) == .seconds(10)) }
    #expect(anchor(.infinity).position(at: .seconds(105), limit: .seconds(60)) == .seconds(60))
  }
}
