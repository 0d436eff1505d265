import TernCore

/// One session over long polling, without I/O: what requests carry goes in, what the server says
/// comes out with the next answer.
///
/// A client sends its messages in base64, cut into numbered segments; the server's come as scripts
/// that call the client back. Source: realtime reference, section 10.12.
struct PollSession: Sendable {
  /// The path of long polling.
  static let path = "/.lp"

  /// Names the session.
  let id: String
  /// Proves that a request belongs to it.
  let password: String
  private let callback: String
  /// The limits on messages, as for a WebSocket.
  private let limits: GatewayLimits
  /// The number of the segment whose turn it is; those before it are ignored.
  private var nextSegment = 0
  /// Segments that came before their turn.
  private var early: [Int: Segment] = [:]
  /// The segments of the message that is being joined, and how many it has.
  private var joined: [UInt8] = []
  private var missing = 0
  /// Frames of the server that no answer has carried.
  private var waiting: [[UInt8]] = []
  /// The number of the next script; the client puts scripts in order by it.
  private var nextAnswer = 0
  /// True once the preface was sent.
  private var isStarted = false
  /// True once the server says no more.
  private(set) var isClosed = false
  /// True when the client was told that it is closed.
  private(set) var hasSaidAll = false
  /// The serial number of the request that was answered last, and the answer; without its bytes if
  /// they are more than ``keptBytes``.
  private var last: (serial: String, script: [UInt8]?)?

  private struct Segment {
    /// The number of segments of its message; that of the first one counts.
    let count: Int
    let text: String
  }

  /// - Parameter callback: Distinguishes this client among those of its page; digits.
  init(id: String, password: String, callback: String, limits: GatewayLimits) {
    self.id = id
    self.password = password
    self.callback = callback
    self.limits = limits
  }

  /// The most segments that wait for an earlier one, and that one request has.
  private static let mostEarly = 64
  /// The longest answer that is kept to be given again.
  static let keptBytes = 64 << 10

  // MARK: - From the client

  /// Takes the segments of a request; answers the messages they complete.
  ///
  /// - Parameter target: A request with the parameters `segN`, `tsN` and `dN`: number, count,
  ///   base64.
  /// - Throws: 400 for a malformed segment or message, for too many segments, and when too many
  ///   wait for an earlier one; 413 for a message that is too long. The session cannot go on then.
  mutating func receive(_ target: RequestTarget) throws(RESTError) -> [[UInt8]] {
    for (number, segment) in try segments(of: target) where number >= nextSegment {
      guard early.count < Self.mostEarly else { throw .invalid("Too many segments are missing.") }
      early[number] = segment
    }
    var messages: [[UInt8]] = []
    while let segment = early.removeValue(forKey: nextSegment) {
      nextSegment += 1
      if let message = try join(segment) { messages.append(message) }
    }
    return messages
  }

  /// Reads the segments of a request, with their numbers. O(*n*) in the parameters.
  private func segments(
    of target: RequestTarget
  ) throws(RESTError) -> [(number: Int, segment: Segment)] {
    var values: [String: String] = [:]
    for parameter in target.parameters { values[parameter.name] = parameter.value }
    var segments: [(number: Int, segment: Segment)] = []
    while let number = values["seg\(segments.count)"] {
      let index = segments.count
      guard index < Self.mostEarly else { throw .invalid("A request has too many segments.") }
      guard let number = Int(number), let count = values["ts\(index)"].flatMap({ Int($0) }),
        count > 0, count <= limits.messageParts, let text = values["d\(index)"]
      else { throw .invalid("A segment is malformed.") }
      segments.append((number, Segment(count: count, text: text)))
    }
    return segments
  }

  /// Adds a segment in its turn; returns the message if that was its last one.
  private mutating func join(_ segment: Segment) throws(RESTError) -> [UInt8]? {
    if missing == 0 { missing = segment.count }
    guard joined.count + segment.text.utf8.count <= limits.messageBytes else {
      throw .tooLarge(limitBytes: limits.messageBytes)
    }
    joined += segment.text.utf8
    missing -= 1
    if missing > 0 { return nil }
    guard let message = WebSafeBase64.decode(exchange(&joined, with: [])),
      String(validating: message, as: UTF8.self) != nil
    else { throw .invalid("A message is no base64.") }
    return message
  }

  /// Bytes of messages that are not whole.
  var heldBytes: Int { early.values.reduce(joined.count) { $0 + $1.text.utf8.count } }

  // MARK: - To the client

  /// Queues what the server says.
  mutating func queue(_ frames: [[UInt8]]) { waiting += frames }

  /// The server says no more, and nothing more is taken from the client.
  ///
  /// - Parameter limitBytes: If more than this is pending, none of it is sent: a client that is so
  ///   far behind starts over in any case.
  mutating func close(keepingBytes limitBytes: Int) {
    isClosed = true
    early = [:]
    joined = []
    if waitingBytes > limitBytes { waiting = [] }
  }

  /// Drops what waits to be said: the client begins anew.
  mutating func dropWaiting() { waiting = [] }

  /// True when there is something to send.
  var hasNews: Bool { !waiting.isEmpty || isClosed && !hasSaidAll }

  /// The bytes that wait to be said.
  var waitingBytes: Int { waiting.reduce(0) { $0 + $1.count } }

  /// Returns the earlier answer to a request that comes again; `nil` when it comes for the first
  /// time.
  ///
  /// - Throws: When that was too much to be kept: to leave it out would be to leave a gap.
  func script(alreadySaidTo serial: String?) throws(RESTError) -> [UInt8]? {
    guard let serial, let last, last.serial == serial else { return nil }
    guard let script = last.script else { throw RESTError(410, "That was answered before.") }
    return script
  }

  /// The script that says everything that waits.
  ///
  /// - Parameter serial: The number of the request that it answers.
  mutating func script(for serial: String? = nil) -> [UInt8] {
    let script = nextScript()
    last = serial.map { ($0, script.count <= Self.keptBytes ? script : nil) }
    return script
  }

  private mutating func nextScript() -> [UInt8] {
    var script: [UInt8] = []
    if !isStarted {
      isStarted = true
      script += Array(preface.utf8)
    }
    let number = nextAnswer
    nextAnswer += 1
    script += Array("pRTLPCB(\(number),[".utf8)
    for (index, frame) in exchange(&waiting, with: []).enumerated() {
      if index > 0 { script.append(UInt8(ascii: ",")) }
      script += frame
    }
    script += Array("]);\n".utf8)
    if isClosed {
      // Not before this answer's turn: an earlier one may still be on its way.
      script += Array("pLPCommand(\"close\",\(number));\n".utf8)
      hasSaidAll = true
    }
    return script
  }

  /// Leads what later scripts say to the page around the frame they run in.
  private var preface: String {
    """
    function pLPCommand(c,a,b){var f=parent.window["pLPCommand\(callback)"];f&&f(c,a,b);}
    function pRTLPCB(n,d){var f=parent.window["pRTLPCB\(callback)"];f&&f(n,d);}
    pLPCommand("start","\(id)","\(password)");

    """
  }

  /// A page that ends the session when it is left.
  var farewellPage: [UInt8] {
    let address = "\(Self.path)?disconn=t&id=\(id)&pw=\(password)"
    return Array(
      """
      <!DOCTYPE html><title>Tern</title>
      <script>onpagehide=function(){navigator.sendBeacon("\(address)")}</script>

      """.utf8)
  }
}

/// Base64 as it stands in addresses: `-` and `_`, with or without padding, which may be `.`.
enum WebSafeBase64 {
  /// Both alphabets are read. `nil` for another character, or for a length that encodes no bytes.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var count = 0
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ".") }
    guard padding.count <= 2 else { return nil }
    for byte in text.dropLast(padding.count) {
      guard let value = value(of: byte) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return count < 6 ? bytes : nil
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
