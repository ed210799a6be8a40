import Attacca
import POSIXKit
Memory.limitArenas()
let args = CommandLine.arguments.dropFirst()
var config = PlayerConfiguration()
var items: [MediaItem] = []
for a in args {
  if a == "silent" { config.output = .silent } else if a == "pulse" { config.output = .pulse } else if a.hasPrefix("wav:") { config.output = .wav(path: Array(a.dropFirst(4).utf8)) }
  else { items.append(MediaItem(.file(a), origin: .user)) }
}
let player = Player(configuration: config)
let events = await player.events()
try await player.replaceQueue(with: items, autoStart: .play)
loop: for await e in events {
  print(Clocks.host, e.name, e)
  switch e {
  case .itemDidChange(_, _, .endOfQueue): break loop
  case .statusChanged(.failed): break loop
  case .statusChanged(.playing): Task { try? await Task.sleep(for: .seconds(1)); Memory.dropStartUpPages() }
  default: break
  }
}
await player.shutdown()
