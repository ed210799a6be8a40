import AttaccaCore
import Testing

@testable import AttaccaPlayer

/// Every event, each of its forms, and the line it makes.
let eventTable: [(PlayerEvent, String)] = [
  (
    .itemWillChange(now: nil, new: EntryID(1)),
    #"{"event":"itemWillChange","time":1700000000000001,"now":null,"new":1}"#
  ),
  (
    .itemDidChange(
      last: EntryID(1),
      now: QueueEntry(id: EntryID(2), item: MediaItem(.file([0x2F, 0x61, 0xFF, 0x22]), id: MediaID("m"))),
      reason: .naturalEnd),
    #"{"event":"itemDidChange","time":1700000000000001,"last":1,"now":{"entry":2,"media":"m","#
      + #""uri":"file:///a%FF%22","title":"a"#
      + "\u{FFFD}" + #"\""},"reason":"naturalEnd"}"#
  ),
  (
    .itemDidChange(last: EntryID(2), now: nil, reason: .edited),
    #"{"event":"itemDidChange","time":1700000000000001,"last":2,"now":null,"reason":"edited"}"#
  ),
  (
    .metadataRead(
      EntryID(3),
      MediaInfo(
        container: "mp3", codec: "mp3", sampleRate: 44_100, channels: 2, duration: nil, isSeekable: false,
        metadata: [
          MetadataItem("title", text: "T", language: "de"), MetadataItem("x", data: [1, 2], mime: "image/png"),
        ],
        hasArtwork: true)),
    #"{"event":"metadataRead","time":1700000000000001,"entry":3,"container":"mp3","codec":"mp3","sampleRate":44100,"#
      + #""channels":2,"bitsPerSample":null,"duration":null,"confidence":null,"isSeekable":false,"hasArtwork":true,"#
      + #""metadata":[{"id":"title","text":"T","language":"de"},{"id":"x","mime":"image/png","size":2,"language":null}]}"#
  ),
  (
    .durationKnown(EntryID(3), MediaDuration(.milliseconds(1500), .exact)),
    #"{"event":"durationKnown","time":1700000000000001,"entry":3,"duration":1500000,"confidence":"exact"}"#
  ),
  (.statusChanged(.playing), #"{"event":"statusChanged","time":1700000000000001,"status":"playing","reason":null}"#),
  (
    .statusChanged(.paused(.user)),
    #"{"event":"statusChanged","time":1700000000000001,"status":"paused","reason":"user"}"#
  ),
  (
    .statusChanged(.failed(MediaError(.sourceEmpty, subject: "s", reason: "r"))),
    #"{"event":"statusChanged","time":1700000000000001,"status":"failed","reason":"source.empty"}"#
  ),
  (
    .seekEnded(EntryID(4), .landed(at: .seconds(2))),
    #"{"event":"seekEnded","time":1700000000000001,"entry":4,"outcome":"landed","position":2000000}"#
  ),
  (.seekEnded(nil, .superseded), #"{"event":"seekEnded","time":1700000000000001,"entry":null,"outcome":"superseded"}"#),
  (
    .seekEnded(EntryID(4), .failed(MediaError(.sourceReadFailed, subject: "s", reason: "r"))),
    #"{"event":"seekEnded","time":1700000000000001,"entry":4,"outcome":"failed","#
      + #""code":"source.readFailed","subject":"s","reason":"r"}"#
  ),
  (
    .playedToEnd(EntryID(4), isLast: true),
    #"{"event":"playedToEnd","time":1700000000000001,"entry":4,"isLast":true}"#
  ),
  (
    .queueChanged(QueueChange(revision: 1, kind: .reset(count: 3), currentBefore: nil, currentAfter: EntryID(1))),
    #"{"event":"queueChanged","time":1700000000000001,"revision":1,"change":"reset","count":3,"#
      + #""currentBefore":null,"currentAfter":1,"currentWasRemoved":false}"#
  ),
  (
    .queueChanged(
      QueueChange(
        revision: 2, kind: .inserted(at: 1, ids: [EntryID(4), EntryID(5)]), currentBefore: nil, currentAfter: nil)),
    #"{"event":"queueChanged","time":1700000000000001,"revision":2,"change":"inserted","at":1,"#
      + #""entries":[4,5],"currentBefore":null,"currentAfter":null,"currentWasRemoved":false}"#
  ),
  (
    .queueChanged(
      QueueChange(
        revision: 3, kind: .removed([0..<2, 5..<6]), currentBefore: EntryID(1), currentAfter: EntryID(3),
        currentWasRemoved: true, follower: EntryID(3))),
    #"{"event":"queueChanged","time":1700000000000001,"revision":3,"change":"removed","#
      + #""ranges":[{"from":0,"count":2},{"from":5,"count":1}],"currentBefore":1,"currentAfter":3,"#
      + #""currentWasRemoved":true}"#
  ),
  (
    .queueChanged(
      QueueChange(revision: 4, kind: .moved(EntryID(1), from: 0, to: 2), currentBefore: nil, currentAfter: nil)),
    #"{"event":"queueChanged","time":1700000000000001,"revision":4,"change":"moved","entry":1,"#
      + #""from":0,"to":2,"currentBefore":null,"currentAfter":null,"currentWasRemoved":false}"#
  ),
  (
    .queueChanged(QueueChange(revision: 5, kind: .replaced(EntryID(1), at: 2), currentBefore: nil, currentAfter: nil)),
    #"{"event":"queueChanged","time":1700000000000001,"revision":5,"change":"replaced","entry":1,"#
      + #""at":2,"currentBefore":null,"currentAfter":null,"currentWasRemoved":false}"#
  ),
  (
    .failed(EntryID(1), MediaError(.sourceNotFound, subject: "s\u{1B}", reason: "r")),
    #"{"event":"failed","time":1700000000000001,"entry":1,"code":"source.notFound","subject":"s","reason":"r"}"#
  ),
  (
    .failed(nil, MediaError(.playerOutputFailed, subject: "s", reason: "r")),
    #"{"event":"failed","time":1700000000000001,"entry":null,"code":"player.outputFailed","subject":"s","reason":"r"}"#
  ),
  (
    .outputChanged(OutputInfo(kind: "silent", name: "n", fallbackReason: "f")),
    #"{"event":"outputChanged","time":1700000000000001,"kind":"silent","name":"n","fallbackReason":"f"}"#
  ),
  (.resync, #"{"event":"resync","time":1700000000000001}"#),
]

@Suite struct EventJSONTests {
  static let wall = Duration.microseconds(1_700_000_000_000_001)

  @Test(arguments: eventTable) func golden(_ event: PlayerEvent, _ line: String) {
    #expect(eventJSON(event, at: Self.wall).text() == line)
  }

  @Test func aRejectedSeek() async {
    // A refusal is made by the player alone: asked for here by seeking in an empty queue.
    var reducer = PlayerReducer()
    let effects = reducer.handle(
      .command(CommandID(1), .seek(.seconds(1))), at: PlayerTime(host: .zero, boot: .zero, wall: .zero))
    let lines = effects.compactMap { effect in
      if case .emit(let event) = effect { eventJSON(event, at: Self.wall).text() } else { nil }
    }
    #expect(
      lines == [
        #"{"event":"seekEnded","time":1700000000000001,"entry":null,"outcome":"rejected","#
          + #""code":"player.noCurrent","reason":"nothing is current"}"#
      ])
  }

  @Test func theTableHasEveryEvent() {
    let names = Set(eventTable.map(\.0.name))
    #expect(
      names == [
        "itemWillChange", "itemDidChange", "metadataRead", "durationKnown", "statusChanged", "seekEnded", "playedToEnd",
        "queueChanged", "failed", "outputChanged", "resync",
      ])
  }
}
