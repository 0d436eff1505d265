#if TCP
  import NIOCore

  /// One thread with many subscribers and one publisher, for any server that fans out.
  ///
  /// It shares the machine with the server it measures, so it is as cheap as can be: bare sockets,
  /// looked at once a millisecond, and of what they bring only the boundaries of messages. It takes
  /// no part in the time of a delivery but for that millisecond.
  struct FanOutClient {
    /// The measurements at one server.
    struct Result: Sendable {
      var deliveriesPerSecond = 0.0
      /// Processor time of the servers for one delivery, in nanoseconds, as fast as they can.
      var serverNanoseconds = 0.0
      /// That of the server which used most.
      var busiestNanoseconds = 0.0
      /// The same at a fixed pace.
      var pacedNanoseconds = 0.0
      /// Processor time of the subscribers for one delivery at a fixed pace, in nanoseconds.
      var clientNanoseconds = 0.0
      /// From publishing to the delivery at each subscriber, at a fixed pace; ascending.
      var latencies: [Duration] = []
      /// From publishing to the delivery at the last subscriber, at a fixed pace; ascending.
      var lastLatencies: [Duration] = []
    }

    /// The server to which the messages are published.
    let server: ChildServer
    /// The servers that the subscribers are spread over; `nil` for the same one.
    var listening: [ChildServer]?
    let subscribers: Int
    let language: FanOutProtocol

    /// Publishes `messages` as fast as 16 under way allow, then `paced` at `perSecond`.
    func run(messages: Int, paced: Int, perSecond: Int) async throws -> Result {
      let ports = (listening ?? [server]).map(\.port)
      let load = try FanOutLoad(
        (0..<subscribers).map { ports[$0 % ports.count] }, publisher: server.port, language)
      try load.subscribe()
      var result = Result()
      try load.deliver(64, every: nil)
      var busy = processorSeconds
      let elapsed = try load.deliver(messages, every: nil)
      let deliveries = Double(messages * subscribers)
      result.deliveriesPerSecond = deliveries / (elapsed / .seconds(1))
      let used = zip(processorSeconds, busy).map { ($0 - $1) * 1e9 / deliveries }
      result.serverNanoseconds = used.reduce(0, +)
      result.busiestNanoseconds = used.max() ?? 0
      busy = processorSeconds
      let own = FanOutLoad.processorSeconds
      try load.deliver(paced, every: .seconds(1) / perSecond)
      let pacedDeliveries = Double(paced * subscribers)
      result.pacedNanoseconds =
        zip(processorSeconds, busy).reduce(0) { $0 + $1.0 - $1.1 } * 1e9 / pacedDeliveries
      result.clientNanoseconds = (FanOutLoad.processorSeconds - own) * 1e9 / pacedDeliveries
      result.latencies = load.latencies.sorted()
      result.lastLatencies = load.lastLatencies.sorted()
      return result
    }

    /// Processor time of each server so far.
    private var processorSeconds: [Double] {
      var servers = [server]
      for other in listening ?? [] where !servers.contains(where: { $0.port == other.port }) {
        servers.append(other)
      }
      return servers.map(\.processorSeconds)
    }
  }

  /// The sockets of a run, and the count that all its subscribers keep together.
  final class FanOutLoad {
    /// The number of messages that may be under way to all subscribers.
    private static let window = 16
    /// The time without any message after which a run has failed.
    private static let patience = Duration.seconds(60)

    private let language: FanOutProtocol
    private let sockets: BareSockets
    private let publisher: Int
    /// Bytes of each subscriber that are no whole message yet.
    private var rests: [Int: ByteBuffer] = [:]
    /// Messages that each subscriber has had.
    private var seen: [Int]
    private var confirmations = 0
    /// The bytes that subscribers send next.
    private var replies: [(number: Int, bytes: [UInt8])] = []
    /// Messages of the runs before, and those of this one.
    private var base = 0
    private var published = 0
    private var delivered = 0
    /// The time at which each message of a paced run was published, by its number.
    private var sent: [ContinuousClock.Instant] = []
    private(set) var latencies: [Duration] = []
    private(set) var lastLatencies: [Duration] = []

    /// - Parameters:
    ///   - subscribers: The port of each subscriber.
    ///   - port: The port of the publisher.
    init(_ subscribers: [Int], publisher port: Int, _ language: FanOutProtocol) throws {
      self.language = language
      sockets = try BareSockets(ports: subscribers + [port])
      publisher = subscribers.count
      seen = Array(repeating: 0, count: subscribers.count)
    }

    /// Processor time of this process so far.
    static var processorSeconds: Double { BareSockets.processorSeconds }

    /// Lets all subscribers subscribe, and waits until each was confirmed.
    func subscribe() throws {
      for number in seen.indices { try sockets.send(language.subscribe, on: number) }
      if !language.greeting.isEmpty { try sockets.send(language.greeting, on: publisher) }
      try wait { confirmations == seen.count }
    }

    /// Publishes `count` messages and returns how long it took until all were delivered.
    @discardableResult
    func deliver(_ count: Int, every pause: Duration?) throws -> Duration {
      let start = ContinuousClock.now
      (published, delivered) = (0, 0)
      sent = []
      try wait {
        if let pause {
          if published < count, start + pause * published <= .now {
            sent.append(.now)
            try publish()
          }
        } else {
          while published < count, (published - Self.window) * seen.count < delivered {
            try publish()
          }
        }
        return delivered == count * seen.count
      }
      base += count
      return ContinuousClock.now - start
    }

    private func publish() throws {
      try sockets.send(language.publish(published), on: publisher)
      published += 1
    }

    /// Receives until `isOver`, which is asked after everything that was there was received.
    private func wait(until isOver: () throws -> Bool) throws {
      var lastHeard = ContinuousClock.now
      while try !isOver() {
        let count = try sockets.receive { number, bytes in take(&bytes, from: number) }
        for (number, bytes) in replies { try sockets.send(bytes, on: number) }
        replies = []
        if count > 0 {
          lastHeard = .now
        } else if ContinuousClock.now - lastHeard > Self.patience {
          throw BenchFailure(reason: "nothing came for a minute")
        }
        // Who waits for its sockets would be woken by each of the server's thousand writes.
        sockets.rest(microseconds: sent.isEmpty ? 100 : 1_000)
      }
    }

    private func take(_ bytes: inout ByteBuffer, from number: Int) {
      if number == publisher { return bytes.clear() }
      if var rest = rests.removeValue(forKey: number) {
        rest.writeBuffer(&bytes)
        let taken = language.take(&rest)
        if rest.readableBytes > 0 { rests[number] = rest }
        note(taken, at: number)
      } else {
        let taken = language.take(&bytes)
        if bytes.readableBytes > 0 { rests[number] = ByteBuffer(bytes.readableBytesView) }
        note(taken, at: number)
      }
    }

    private func note(_ taken: FanOutProtocol.Taken, at number: Int) {
      confirmations += taken.confirmations
      if !taken.reply.isEmpty { replies.append((number, taken.reply)) }
      if taken.messages == 0 { return }
      if !sent.isEmpty {
        let now = ContinuousClock.now
        let first = seen[number] - base
        for message in first..<first + taken.messages where sent.indices.contains(message) {
          latencies.append(now - sent[message])
          while lastLatencies.count <= message { lastLatencies.append(.zero) }
          lastLatencies[message] = max(lastLatencies[message], now - sent[message])
        }
      }
      seen[number] += taken.messages
      delivered += taken.messages
    }
  }
#endif
