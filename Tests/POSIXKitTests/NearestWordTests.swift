import Glibc
import POSIXKit
import Testing

@Suite struct NearestWordTests {
  private let words = ["play", "help", "--output", "--no-resume"]

  @Test(arguments: [
    ("plya", "play"), ("pla", "play"), ("plaay", "play"), ("hepl", "help"), ("--otput", "--output"),
    ("--noresume", "--no-resume"), ("play", "play"),
  ])
  func near(_ word: String, _ meant: String) { #expect(nearestWord(to: word, among: words) == meant) }

  @Test(arguments: ["", "xyz", "daemon", "--json", String(repeating: "p", count: 1000)])
  func far(_ word: String) { #expect(nearestWord(to: word, among: words) == nil) }

  @Test func firstOfEquals() { #expect(nearestWord(to: "c", among: ["a", "b"]) == "a") }
}

@Suite struct WriteAllTests {
  @Test func writesThroughAPipeThatIsSmallerThanTheText() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    let text = [UInt8](repeating: 7, count: 1_000_000)
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
    let worker = try #require(
      Worker(name: "writer") {
        writeAll(text, to: writer)
        close(writer)
      })
    var count = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let got = read(reader, &buffer, buffer.count), got > 0 { count += got }
    worker.join()
    close(reader)
    #expect(count == text.count)
  }

  @Test func saysWhenItCannot() {
    #expect(!writeAll([1], to: -1))
    #expect(errno == EBADF)
  }
}
