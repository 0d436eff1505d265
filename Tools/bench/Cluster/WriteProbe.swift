#if TCP && os(Linux)
  import NIOCore
  import TernCore
  import TernQuery
  import TernTreeWire

  /// One writer, and at wish one listener at another server, on one thread that notes when each
  /// write was sent, acknowledged, and told.
  struct WriteProbe {
    /// The most writes that are under way.
    private static let window = 1_000
    /// The time without an answer or an event after which a run has failed.
    private static let patience = Duration.seconds(60)
    private static let writer = 0
    private static let mark = UInt8(ascii: "#")

    private let sockets: BareSockets
    private let filler: String
    private var rests: [ByteBuffer]
    private var isGreeted = false
    private var isListening: Bool
    /// The moments of each write, by its number less one.
    private var sent: [ContinuousClock.Instant] = []
    private var acknowledged: [ContinuousClock.Instant] = []
    private var told: [ContinuousClock.Instant] = []

    /// Connects, and listens; returns when the servers have answered both.
    ///
    /// - Parameter listening: The port of the listener's server.
    init(at port: Int, listening: Int? = nil, valueBytes: Int) throws {
      filler = String(repeating: "x", count: valueBytes)
      let ports = [port] + (listening.map { [$0] } ?? [])
      sockets = try BareSockets(ports: ports)
      rests = Array(repeating: ByteBuffer(), count: ports.count)
      isListening = listening == nil
      let writing = TreeOpening(stream: UInt128.random(in: 0...UInt128.max))
      try sockets.send(
        TCPFrames.preamble + TCPFrames.frame(TreeClientMessage.open(writing).encode()), on: 0)
      if listening != nil {
        let listen = TreeListen(path: try TreePath("probe"), query: .all)
        try sockets.send(
          TCPFrames.preamble + TCPFrames.frame(TreeClientMessage.open(TreeOpening()).encode())
            + TCPFrames.frame(TreeClientMessage.request(1, .listen(listen)).encode()), on: 1)
      }
      try wait { $0.isGreeted && $0.isListening }
    }

    /// The times from sending to the acknowledgement.
    var delays: [Duration] { zip(sent, acknowledged).map { $1 - $0 } }

    /// The times from the acknowledgement at the writer to the event at the listener; negative
    /// where the listener was told first.
    var lags: [Duration] { zip(acknowledged, told).map { $1 - $0 } }

    /// Makes so many writes, at a pace or each after the answer to the one before, and waits for
    /// the answers and the events.
    ///
    /// - Returns: The time from the first write to the last answer.
    @discardableResult
    mutating func run(_ count: Int, every pause: Duration?) throws -> Duration {
      let start = ContinuousClock.now
      let (first, end) = (sent.count, sent.count + count)
      try wait { probe in
        let underWay = probe.sent.count - probe.acknowledged.count
        if let pause {
          while probe.sent.count < end, start + pause * (probe.sent.count - first) <= .now,
            probe.sent.count - probe.acknowledged.count < Self.window
          {
            try probe.write()
          }
        } else if underWay == 0, probe.sent.count < end {
          try probe.write()
        }
        return probe.acknowledged.count == end
          && (probe.rests.count == 1 || probe.told.count == end)
      }
      return (acknowledged.last ?? start) - start
    }

    private mutating func write() throws {
      let number = sent.count + 1
      sent.append(.now)
      let text =
        ##"{"t":"d","d":{"r":\##(number),"a":"p","b":{"p":"/probe","##
        + ##""d":"#\##(number) \##(filler)","w":\##(number),"wa":\##(acknowledged.count)}}}"##
      try sockets.send(TCPFrames.frame(Array(text.utf8)), on: Self.writer)
    }

    private mutating func wait(until isOver: (inout WriteProbe) throws -> Bool) throws {
      var lastHeard = ContinuousClock.now
      while try !isOver(&self) {
        var frames: [(socket: Int, bytes: [UInt8])] = []
        let count = try sockets.receive(waiting: 1) { socket, bytes in
          rests[socket].writeBuffer(&bytes)
          TCPFrames.take(&rests[socket]) { frames.append((socket, Array($0))) }
          rests[socket].discardReadBytes()
        }
        for frame in frames { try receive(frame.bytes, at: frame.socket) }
        if count > 0 { lastHeard = .now }
        if ContinuousClock.now - lastHeard > Self.patience {
          throw BenchFailure(reason: "nothing came for a minute")
        }
      }
    }

    private mutating func receive(_ frame: [UInt8], at socket: Int) throws(BenchFailure) {
      // {"t":"c"... greets, {"t":"d","d":{"r":... answers, {"t":"d","d":{"a":... tells.
      if frame.count > 6, frame[6] == UInt8(ascii: "c") {
        if socket == Self.writer { isGreeted = true }
        return
      }
      guard frame.count > 18 else { return }
      if frame[15] == UInt8(ascii: "r") {
        let text = String(decoding: frame.prefix(200), as: UTF8.self)
        guard text.contains(#""s":"ok""#) else { throw BenchFailure(reason: "refused: \(text)") }
        if socket == Self.writer { acknowledged.append(.now) } else { isListening = true }
        return
      }
      // The number of the newest write that an event tells: a value stands for those before it.
      guard socket != Self.writer, let start = frame.firstIndex(of: Self.mark) else { return }
      var number = 0
      for byte in frame[(start + 1)...].prefix(while: { $0 != UInt8(ascii: " ") }) {
        number = number * 10 + Int(byte &- UInt8(ascii: "0"))
      }
      while told.count < min(number, sent.count) { told.append(.now) }
    }
  }
#endif
