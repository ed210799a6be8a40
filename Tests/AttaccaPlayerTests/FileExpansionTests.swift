import AttaccaCore
import Glibc
import Testing

@testable import AttaccaPlayer

/// A folder that goes away with the test.
private final class TemporaryFolder {
  let path: [UInt8]

  init() throws {
    var template = Array("/tmp/attacca-test-XXXXXX".utf8CString)
    try #require(template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) } != nil)
    // Canonical, should /tmp be a link.
    path = try #require(canonicalPath(template.dropLast().map { UInt8(bitPattern: $0) }))
  }

  deinit { remove(path) }

  func at(_ name: [UInt8]) -> [UInt8] { joinedPath(path, name) }
  func at(_ name: String) -> [UInt8] { at(Array(name.utf8)) }

  func folder(_ name: String) { _ = cString(at(name)).withUnsafeBufferPointer { mkdir($0.baseAddress!, 0o755) } }
  func file(_ name: String) { file(Array(name.utf8)) }
  func file(_ name: [UInt8]) {
    let descriptor = cString(at(name)).withUnsafeBufferPointer { open($0.baseAddress!, O_CREAT | O_WRONLY, 0o644) }
    #expect(descriptor >= 0)
    close(descriptor)
  }
  func link(_ name: String, to target: String) {
    #expect(cString(at(name)).withUnsafeBufferPointer { symlink(target, $0.baseAddress!) } == 0)
  }

  private func cString(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  private func remove(_ path: [UInt8]) {
    if let folder = try? Directory(path) {
      for name in (try? folder.names()) ?? [] {
        guard let (status, isLink) = try? folder.status(of: name), !isLink, status.kind == .directory else {
          _ = cString(joinedPath(path, name)).withUnsafeBufferPointer { unlink($0.baseAddress!) }
          continue
        }
        remove(joinedPath(path, name))
      }
      // Hidden names are not listed; the tests make one.
      _ = cString(joinedPath(path, Array(".hidden.mp3".utf8))).withUnsafeBufferPointer { unlink($0.baseAddress!) }
    }
    _ = cString(path).withUnsafeBufferPointer { rmdir($0.baseAddress!) }
  }
}

@Suite struct FileExpansionTests {
  private func names(_ expansion: FileExpansion, in folder: TemporaryFolder) -> [String] {
    expansion.items.map { item in
      guard case .file(let path) = item.locator else { return "?" }
      #expect(path.starts(with: folder.path))
      return String(decoding: path.dropFirst(folder.path.count + 1), as: UTF8.self)
    }
  }

  @Test func foldersInNaturalOrderWithAudioOnly() throws {
    let folder = try TemporaryFolder()
    for name in ["10.mp3", "2.FLAC", "1.ogg", "cover.jpg", "noextension", "list.m3u", ".hidden.mp3", "x.mp3.part"] {
      folder.file(name)
    }
    folder.folder("3 disc")
    folder.file("3 disc/b.opus")
    folder.file("3 disc/A.wav")
    let expansion = FileExpansion([folder.path])
    #expect(names(expansion, in: folder) == ["1.ogg", "2.FLAC", "3 disc/A.wav", "3 disc/b.opus", "10.mp3"])
    #expect(expansion.problems.isEmpty)
    #expect(expansion.items.allSatisfy { $0.origin == .user })
  }

  @Test func argumentsKeepTheirOrderAndExplicitFilesAreAlwaysTried() throws {
    let folder = try TemporaryFolder()
    folder.file("z.txt")
    folder.folder("a")
    folder.file("a/1.mp3")
    let expansion = FileExpansion([folder.at("z.txt"), folder.at("a"), folder.at("z.txt")])
    #expect(names(expansion, in: folder) == ["z.txt", "a/1.mp3", "z.txt"])
  }

  @Test func whatCannotBePlayedIsNamed() throws {
    let folder = try TemporaryFolder()
    folder.folder("empty")
    folder.file("empty/cover.jpg")
    folder.file("a.mp3")
    let expansion = FileExpansion([
      folder.at("gone.mp3"), folder.at("empty"), folder.at("a.mp3"), folder.at("a.mp3/x"), Array("http://h/x.mp3".utf8),
      Array("ftp://h/x.mp3".utf8),
    ])
    #expect(names(expansion, in: folder) == ["a.mp3"])
    #expect(
      expansion.problems.map(\.code) == [
        .sourceNotFound, .sourceNoAudio, .sourceNotFound, .sourceNotAllowed, .sourceNotAllowed,
      ])
    #expect(expansion.problems[0].subject.hasSuffix("gone.mp3") && expansion.problems[1].subject.hasSuffix("empty"))
    #expect(expansion.problems[3].subject == "http://h/x.mp3")
  }

  @Test func anyBytesInNames() throws {
    let folder = try TemporaryFolder()
    let name: [UInt8] = [0x61, 0xFF, 0x0A, 0x1B] + Array(".mp3".utf8)
    folder.file(name)
    let expansion = FileExpansion([folder.path])
    #expect(expansion.items.map(\.locator) == [.file(folder.at(name))])
    let missing = FileExpansion([folder.at([0xFE, 0x1B])])
    #expect(missing.problems.count == 1)
    #expect(missing.problems[0].subject.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  @Test func linksAreFollowedAndLoopsEnd() throws {
    let folder = try TemporaryFolder()
    folder.folder("a")
    folder.folder("b")
    folder.file("b/1.mp3")
    folder.link("a/up", to: "..")
    folder.link("a/other", to: "../b")
    folder.link("a/self", to: "self")
    folder.link("a/song.mp3", to: "../b/1.mp3")
    folder.link("a/nowhere.mp3", to: "gone")
    let expansion = FileExpansion([folder.at("a")])
    #expect(names(expansion, in: folder) == ["a/other/1.mp3", "a/song.mp3"])
    #expect(expansion.problems.isEmpty)
    // Two ways to one file: one identity.
    #expect(Set(expansion.items.map(\.id)).count == 1)
    #expect(expansion.items[0].id == FileExpansion([folder.at("b/1.mp3")]).items[0].id)
  }

  @Test func twoLinksToTheNextFolderDoNotDouble() throws {
    let folder = try TemporaryFolder()
    for level in 0..<40 {
      folder.folder("\(level)")
      if level > 0 {
        folder.link("\(level - 1)/a", to: "../\(level)")
        folder.link("\(level - 1)/b", to: "../\(level)")
      }
    }
    folder.file("39/x.mp3")
    #expect(FileExpansion([folder.at("0")]).items.count == 1)
  }

  @Test func depthIsBounded() throws {
    let folder = try TemporaryFolder()
    var path = "d"
    folder.folder(path)
    for _ in 0..<(FileExpansion.maximumDepth + 1) {
      path += "/d"
      folder.folder(path)
    }
    folder.file(path + "/deep.mp3")
    folder.file("d/near.mp3")
    let expansion = FileExpansion([folder.at("d")])
    #expect(names(expansion, in: folder) == ["d/near.mp3"])
    #expect(expansion.problems.map(\.code) == [.sourceNotAllowed])
  }

  @Test func relativePathsBecomeAbsolute() {
    #expect(absolutePath(Array("/a/b".utf8)) == Array("/a/b".utf8))
    #expect(absolutePath(Array("x".utf8)).first == UInt8(ascii: "/"))
    #expect(absolutePath(Array("x".utf8)).suffix(2) == Array("/x".utf8)[...])
  }

  @Test(arguments: [
    ("a.mp3", true), ("A.FLAC", true), ("a.tar.m4b", true), ("mp3", false), (".mp3", false), ("a.", false),
    ("a.jpeg", false), ("a.mp3x", false), ("a.m3u8", false),
  ])
  func extensions(_ name: String, _ isAudio: Bool) { #expect(hasAudioExtension(Array(name.utf8)) == isAudio) }

  @Test(arguments: [
    ("http://x", true), ("HTTPS://x", true), ("file:///x", false), ("a+b-c.d://x", false),
  ])
  func addresses(_ text: String, _ isNetwork: Bool) {
    #expect(FileExpansion.address(Array(text.utf8))?.isNetwork == isNetwork)
  }

  @Test(arguments: ["./http://x", "/http://x", "http:/x", "://x", "1http://x", "ht tp://x", "C:x"])
  func paths(_ text: String) { #expect(FileExpansion.address(Array(text.utf8)) == nil) }
}
