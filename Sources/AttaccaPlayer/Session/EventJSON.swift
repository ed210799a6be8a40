import AttaccaCore

/// An event as `--json` prints it: one object, its members as attacca(1) lists them.
///
/// - Parameter wall: when it was seen, since 1970-01-01 00:00 UTC. All times are integer microseconds.
func eventJSON(_ event: PlayerEvent, at wall: Duration) -> JSONValue {
  .object([("event", .string(event.name)), ("time", .microseconds(wall))] + members(of: event))
}

private func members(of event: PlayerEvent) -> [(String, JSONValue)] {
  switch event {
  case .itemWillChange(let now, let new): [("now", id(now)), ("new", id(new))]
  case .itemDidChange(let last, let now, let reason):
    [("last", id(last)), ("now", now.map(object) ?? .null), ("reason", .string(reason.rawValue))]
  case .metadataRead(let entry, let info): [("entry", id(entry))] + members(of: info)
  case .durationKnown(let entry, let duration): [("entry", id(entry))] + members(of: duration)
  case .statusChanged(let status): [("status", .string(status.name)), ("reason", .optional(status.reason))]
  case .seekEnded(let entry, let outcome): [("entry", id(entry))] + members(of: outcome)
  case .playedToEnd(let entry, let isLast): [("entry", id(entry)), ("isLast", .bool(isLast))]
  case .queueChanged(let change): members(of: change)
  case .failed(let entry, let error): [("entry", id(entry))] + members(of: error)
  case .outputChanged(let output):
    [
      ("kind", .string(output.kind)), ("name", .string(output.name)),
      ("fallbackReason", .optional(output.fallbackReason)),
    ]
  case .resync: []
  }
}

private func id(_ entry: EntryID?) -> JSONValue { entry.map { .int(Int64(clamping: $0.rawValue)) } ?? .null }

private func object(_ entry: QueueEntry) -> JSONValue {
  .object([
    ("entry", id(entry.id)), ("media", .string(entry.item.id.rawValue)), ("uri", .string(entry.item.locator.uri)),
    ("title", .string(entry.item.displayTitle)),
  ])
}

private func members(of info: MediaInfo) -> [(String, JSONValue)] {
  [
    ("container", .string(info.container)), ("codec", .string(info.codec)), ("sampleRate", .int(info.sampleRate)),
    ("channels", .int(info.channels)), ("bitsPerSample", info.bitsPerSample.map { .int($0) } ?? .null),
  ] + members(of: info.duration) + [
    ("isSeekable", .bool(info.isSeekable)), ("hasArtwork", .bool(info.hasArtwork)),
    ("metadata", .array(info.metadata.map(object))),
  ]
}

private func object(_ item: MetadataItem) -> JSONValue {
  var members: [(String, JSONValue)] = [("id", .string(item.id))]
  switch item.value {
  case .text(let text): members.append(("text", .string(text)))
  case .data(let bytes, let mime): members += [("mime", .string(mime)), ("size", .int(bytes.count))]
  }
  return .object(members + [("language", .optional(item.language))])
}

private func members(of duration: MediaDuration?) -> [(String, JSONValue)] {
  [("duration", .microseconds(duration?.value)), ("confidence", .optional(duration?.confidence.rawValue))]
}

private func members(of error: MediaError) -> [(String, JSONValue)] {
  [("code", .string(error.code.rawValue)), ("subject", .string(error.subject)), ("reason", .string(error.reason))]
}

private func members(of outcome: SeekOutcome) -> [(String, JSONValue)] {
  switch outcome {
  case .landed(let position): [("outcome", .string("landed")), ("position", .microseconds(position))]
  case .superseded: [("outcome", .string("superseded"))]
  case .rejected(let refusal):
    [
      ("outcome", .string("rejected")), ("code", .string(refusal.code.rawValue)), ("reason", .string(refusal.reason)),
    ]
  case .failed(let error): [("outcome", .string("failed"))] + members(of: error)
  }
}

private func members(of change: QueueChange) -> [(String, JSONValue)] {
  let kind: [(String, JSONValue)] =
    switch change.kind {
    case .reset(let count): [("change", .string("reset")), ("count", .int(count))]
    case .inserted(let at, let ids):
      [("change", .string("inserted")), ("at", .int(at)), ("entries", .array(ids.map { id($0) }))]
    case .removed(let ranges):
      [
        ("change", .string("removed")),
        (
          "ranges",
          .array(ranges.map { .object([("from", .int($0.lowerBound)), ("count", .int($0.count))]) })
        ),
      ]
    case .moved(let entry, let from, let to):
      [("change", .string("moved")), ("entry", id(entry)), ("from", .int(from)), ("to", .int(to))]
    case .replaced(let entry, let at):
      [("change", .string("replaced")), ("entry", id(entry)), ("at", .int(at))]
    }
  return [("revision", .int(Int64(clamping: change.revision)))] + kind + [
    ("currentBefore", id(change.currentBefore)), ("currentAfter", id(change.currentAfter)),
    ("currentWasRemoved", .bool(change.currentWasRemoved)),
  ]
}
