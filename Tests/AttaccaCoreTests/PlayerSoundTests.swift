import TestSupport
import Testing

@testable import AttaccaCore

@Suite struct PlayerSoundTests {
  private func ten() -> Simulation {
    var simulation = Simulation { _ in ScriptedMedia(.seconds(10)) }
    simulation.perform(
      .replaceQueue(["a", "b"].map { MediaItem(.file("/music/\($0)"), id: MediaID($0)) }, autoStart: .play))
    return simulation
  }

  @Test func theRateLastsAndPlaysFaster() {
    var simulation = ten()
    simulation.run(for: .seconds(2))
    simulation.perform(.setRate(2))
    #expect(simulation.sent.last == .setRate(2))
    let before = simulation.reducer.snapshot.position(at: simulation.now) ?? .zero
    simulation.run(for: .seconds(1))
    let after = simulation.reducer.snapshot.position(at: simulation.now) ?? .zero
    #expect(after - before == .seconds(2))
    simulation.runToEnd()
    // Two seconds as recorded, and eighteen in nine.
    #expect(abs((simulation.now - .seconds(11)) / .seconds(1)) < 0.1)
    #expect(simulation.reducer.snapshot.rate == 2)
  }

  @Test func senselessRatesAreRefusedAndWildOnesClamped() {
    var simulation = ten()
    for rate in [Double.nan, .infinity, 0, -1] {
      let id = simulation.perform(.setRate(rate))
      guard case .refused(let refusal)? = simulation.replies[id] else {
        Issue.record("\(rate) was not refused")
        continue
      }
      #expect(refusal.code == .invalidValue)
    }
    simulation.perform(.setRate(100))
    #expect(simulation.reducer.snapshot.rate == 4)
    simulation.perform(.setRate(0.001))
    #expect(simulation.reducer.snapshot.rate == 0.25)
    simulation.perform(.pause)
    simulation.perform(.setRate(1.5))
    #expect(!simulation.reducer.snapshot.wantsToPlay)
  }

  @Test func autoFollowsTheOrder() {
    var simulation = ten()
    simulation.perform(.setSound(SoundSettings(loudness: .auto, preamp: 99)))
    #expect(simulation.sent.last == .setSound(SoundSettings(loudness: .album, preamp: 15)))
    #expect(simulation.reducer.snapshot.sound.loudness == .auto)
  }

  @Test func aBitPerfectOutputIsLeftAsItIs() {
    var simulation = ten()
    simulation.perform(.setRate(2))
    simulation.perform(.setSound(SoundSettings(isBitPerfect: true)))
    let snapshot = simulation.reducer.snapshot
    #expect(snapshot.rate == 1 && !snapshot.can.rate && !snapshot.can.volume && snapshot.can.sound)
    for command in [PlayerCommand.setRate(1.5), .setVolume(0.5), .setMuted(true)] {
      let id = simulation.perform(command)
      guard case .refused(let refusal)? = simulation.replies[id] else {
        Issue.record("\(command) was not refused")
        continue
      }
      #expect(refusal.code == .notSupported)
    }
    simulation.perform(.setSound(SoundSettings()))
    #expect(simulation.reducer.snapshot.rate == 2 && simulation.reducer.snapshot.can.rate)
  }

  @Test func anEngineIsToldHowToBegin() {
    var setup = PlayerReducer.Setup()
    #expect(PlayerReducer(setup: setup).initialCommands.isEmpty)
    setup.volume = 0.5
    setup.rate = 9
    setup.sound.loudness = .auto
    let commands = PlayerReducer(setup: setup).initialCommands
    #expect(commands == [.setGain(0.125), .setRate(4), .setSound(SoundSettings(loudness: .album))])
    setup.capabilities = EngineCapabilities(gapless: true, exactSeek: true, gain: true, rate: false, sound: false)
    #expect(PlayerReducer(setup: setup).initialCommands == [.setGain(0.125)])
  }
}
