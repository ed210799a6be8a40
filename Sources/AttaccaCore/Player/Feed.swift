/// Fans values out to any number of consumers, each with a bounded buffer of its own.
struct Feed<Value: Sendable> {
  private struct Consumer {
    let continuation: AsyncStream<Value>.Continuation
    var hasMissed = false
  }

  private var consumers: [UInt64: Consumer] = [:]
  private var lastID: UInt64 = 0
  private let policy: AsyncStream<Value>.Continuation.BufferingPolicy
  /// Put in place of what a slow consumer missed.
  private let marker: Value?

  /// A feed of which a slow consumer sees only the newest value.
  static func newest() -> Feed { Feed(policy: .bufferingNewest(1), marker: nil) }

  /// A feed that keeps `limit` values for each consumer and then puts `marker` in place of what it drops.
  static func bounded(_ limit: Int, marker: Value) -> Feed { Feed(policy: .bufferingOldest(limit), marker: marker) }

  private init(policy: AsyncStream<Value>.Continuation.BufferingPolicy, marker: Value?) {
    self.policy = policy
    self.marker = marker
  }

  var isEmpty: Bool { consumers.isEmpty }

  /// Adds a consumer; `onEnd` gets its number when it stops listening.
  mutating func subscribe(onEnd: @escaping @Sendable (UInt64) -> Void) -> AsyncStream<Value> {
    lastID += 1
    let id = lastID
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: policy)
    continuation.onTermination = { _ in onEnd(id) }
    consumers[id] = Consumer(continuation: continuation)
    return stream
  }

  mutating func remove(_ id: UInt64) { consumers[id] = nil }

  mutating func send(_ value: Value) {
    for (id, consumer) in consumers {
      if consumer.hasMissed, let marker {
        guard case .enqueued = consumer.continuation.yield(marker) else { continue }
        consumers[id]?.hasMissed = false
      }
      if case .dropped = consumer.continuation.yield(value), marker != nil { consumers[id]?.hasMissed = true }
    }
  }

  mutating func finish() {
    for consumer in consumers.values { consumer.continuation.finish() }
    consumers = [:]
  }
}
