import AttaccaCore
import Testing

@testable import AttaccaPlayer

@Suite struct ItemTrackerTests {
  private let a = QueueEntry(id: EntryID(1), item: testItem("a.flac"))
  private let b = QueueEntry(id: EntryID(2), item: testItem("b.flac"))

  private func notes(_ events: [PlayerEvent]) -> [ItemTracker.Note] {
    var tracker = ItemTracker()
    return events.flatMap { tracker.handle($0) } + tracker.leave()
  }

  @Test func anAlbumWithoutGaps() {
    let info = testInfo(title: "T", artist: "A", album: "L")
    #expect(
      notes([
        .itemDidChange(last: nil, now: a, reason: .started), .statusChanged(.waiting(.opening)),
        .metadataRead(a.id, info), .statusChanged(.playing), .metadataRead(b.id, testInfo()),
        .playedToEnd(a.id, isLast: false), .itemDidChange(last: a.id, now: b, reason: .naturalEnd),
        .playedToEnd(b.id, isLast: true), .itemDidChange(last: b.id, now: a, reason: .endOfQueue),
        .statusChanged(.stopped),
      ]) == [
        .opened("A – T (L) [3:21]"), .left("A – T (L) [3:21]"), .opened("b.flac [3:21]"), .left("b.flac [3:21]"),
      ])
  }

  @Test func whatWasNotHeardLeavesNoLine() {
    let error = MediaError(.sourceEmpty, subject: "a", reason: "r")
    #expect(
      notes([
        .itemDidChange(last: nil, now: a, reason: .started), .failed(a.id, error),
        .itemDidChange(last: a.id, now: b, reason: .failed), .metadataRead(b.id, testInfo()),
      ]) == [.opened("b.flac [3:21]")])
  }

  @Test func theSameEntryAgainIsTold() {
    #expect(
      notes([
        .itemDidChange(last: nil, now: a, reason: .started), .metadataRead(a.id, testInfo()), .statusChanged(.playing),
        .metadataRead(a.id, testInfo()), .itemDidChange(last: a.id, now: a, reason: .naturalEnd),
      ]) == [.opened("a.flac [3:21]"), .left("a.flac [3:21]"), .opened("a.flac [3:21]"), .left("a.flac [3:21]")])
  }

  @Test func aBetterDurationIsTakenUp() {
    #expect(
      notes([
        .itemDidChange(last: nil, now: a, reason: .started), .metadataRead(a.id, testInfo(seconds: nil)),
        .statusChanged(.playing), .durationKnown(a.id, MediaDuration(.seconds(61), .exact)),
      ]) == [.opened("a.flac"), .left("a.flac [1:01]")])
  }
}
