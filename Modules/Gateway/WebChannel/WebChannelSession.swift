import TernCore

/// One session over WebChannel, without I/O: the order of the client's messages, and the server's
/// arrays until they are acknowledged.
///
/// Both directions deliver exactly once, in order, over requests that are lost, repeated, or out
/// of order. The client's messages are numbered from 0; a repeated number is ignored and one that
/// is ahead waits. The server's arrays are numbered from 1 (0 is the handshake's) and sent again
/// on the next back channel until the client has acknowledged them.
/// Source: firestore-server reference, section 4.
struct WebChannelSession: Sendable {
  /// One message of the client.
  struct Incoming: Sendable {
    let id: Int
    let content: Content

    /// The bytes it is counted with while it waits, an entry of the table among them.
    var bytes: Int {
      guard case .message(let message) = content else { return WebChannelLimits.arrayBytes }
      return WebChannelLimits.arrayBytes + message.count
    }
  }

  /// The content of a message.
  enum Content: Equatable, Sendable {
    /// In protobuf.
    case message([UInt8])
    /// The client could not encode it; its number is used up.
    case missing
    /// The JSON is not this message: the end of the session.
    case invalid(DocumentStatus)
  }

  /// One array of the server: `[id,data]`.
  private struct Kept {
    let id: Int
    let data: WebChannelData
    /// The bytes of the array beside those of its data.
    let frameBytes: Int

    init(_ id: Int, _ data: WebChannelData) {
      self.id = id
      self.data = data
      frameBytes = "[\(id),]".utf8.count
    }

    var textBytes: Int { frameBytes + data.text.count }
    var bytes: Int { textBytes + WebChannelLimits.arrayBytes }
  }

  private let limits: WebChannelLimits
  // From the client.
  /// The number of the message whose turn it is.
  private var nextMap: Int
  /// Messages that came before their turn.
  private var early: [Int: Incoming] = [:]
  /// The bytes of messages that came before their turn.
  private(set) var earlyBytes = 0
  // To the client.
  /// Arrays without an acknowledgement, in the order of their ids and without gaps.
  private var kept: [Kept] = []
  /// The bytes of arrays that are not acknowledged.
  private(set) var keptBytes = 0
  /// The id of the newest array.
  private var lastID = 0
  /// The id of the newest array that was sent on any back channel.
  private var lastSent = 0
  /// True when no array follows.
  private(set) var isEnded = false
  // The back channel.
  private var back: Back?

  /// The response that arrays are sent in.
  private struct Back {
    /// A long poll ends behind its first chunk.
    let mode: WebChannelBack
    /// The id of the newest array in it, or acknowledged before it.
    var sent: Int
    /// The bytes of chunks so far.
    var bytes = 0
  }

  /// - Parameter firstMap: The number of the client's first message.
  init(limits: WebChannelLimits, firstMap: Int = 0) {
    self.limits = limits
    nextMap = firstMap
  }

  // MARK: - From the client

  /// Returns the messages whose turn it is.
  ///
  /// - Parameter maps: In any order; numbers that were received before are ignored.
  /// - Throws: When a message is too far ahead, or too many bytes wait; nothing is changed.
  mutating func receive(_ maps: [Incoming]) throws(WebChannelError) -> [Content] {
    var added = early
    for map in maps where map.id >= nextMap && added[map.id] == nil { added[map.id] = map }
    var next = nextMap
    var contents: [Content] = []
    while let map = added.removeValue(forKey: next) {
      next += 1
      if map.content != .missing { contents.append(map.content) }
    }
    let bytes = added.values.reduce(0) { $0 + $1.bytes }
    guard added.count <= limits.maps, bytes <= limits.formBytes,
      added.keys.allSatisfy({ $0 - next <= limits.maps })
    else { throw .invalid("Too many messages are missing.") }
    (early, earlyBytes, nextMap) = (added, bytes, next)
    return contents
  }

  /// Forgets the arrays up to an id, which the client has received.
  ///
  /// - Throws: For an array that was never sent.
  mutating func acknowledge(_ id: Int) throws(WebChannelError) {
    guard id <= lastSent else { throw .invalid("AID is ahead of what was sent.") }
    let received = kept.prefix { $0.id <= id }
    keptBytes -= received.reduce(0) { $0 + $1.bytes }
    kept.removeFirst(received.count)
    if let back, back.sent < id { self.back?.sent = id }
  }

  // MARK: - To the client

  /// Adds arrays, one for each data.
  mutating func append(_ data: [WebChannelData]) {
    if isEnded { return }
    for data in data {
      lastID += 1
      let new = Kept(lastID, data)
      keptBytes += new.bytes
      kept.append(new)
    }
  }

  /// Adds an array that carries one message.
  mutating func append(message json: [UInt8]) { append([WebChannelData(message: json)]) }

  /// Adds the last arrays: an error if there is one, and the close.
  mutating func end(_ error: DocumentStatus?) {
    if let error { append(message: DocumentRESTError(error).json) }
    append([Self.close])
    isEnded = true
  }

  /// Replaces what was not sent by the array that aborts the session.
  ///
  /// The ids of arrays that were never sent are used again: the client must see no gap.
  mutating func abort() {
    while let last = kept.last, last.id > lastSent {
      keptBytes -= last.bytes
      kept.removeLast()
    }
    lastID = lastSent
    append([Self.stop])
    isEnded = true
  }

  /// True when the server's messages have to wait for an acknowledgement.
  var isFull: Bool { kept.count >= limits.keptArrays || keptBytes >= limits.keptBytes }

  /// True when so many messages may come without a look at ``isFull`` between them.
  func hasSpace(for count: Int) -> Bool { !isFull && kept.count + count <= limits.keptArrays }

  /// True when the client has acknowledged the last array of a session that has ended.
  var isAcknowledged: Bool { isEnded && kept.isEmpty }

  /// Begins a response that arrays are sent in; what is not acknowledged is sent again.
  ///
  /// A client that opens another back channel may have lost the one before, with arrays in it.
  mutating func attach(_ mode: WebChannelBack) {
    back = Back(mode: mode, sent: (kept.first?.id ?? lastID + 1) - 1)
  }

  /// The response has ended, or is lost.
  mutating func detach() { back = nil }

  /// True while a response is there to send arrays in.
  var hasBack: Bool { back != nil }

  /// The most bytes that the next chunk has; 0 when there is none.
  var nextChunkBytes: Int {
    guard let back, back.sent < lastID else { return 0 }
    return kept.suffix(lastID - back.sent).reduce(WebChannelChunk.mostHeadBytes) {
      $0 + $1.textBytes + 1
    }
  }

  /// Returns the chunk to send now; `nil` when there is nothing to send, or nothing to send it in.
  mutating func nextChunk() -> [UInt8]? {
    guard let back, back.sent < lastID else { return nil }
    // The ids of what is kept follow one another, up to the newest.
    let chunk = Self.chunk(kept.suffix(lastID - back.sent))
    self.back?.sent = lastID
    self.back?.bytes += chunk.count
    lastSent = lastID
    return chunk
  }

  /// Returns a JSON array of arrays, framed.
  private static func chunk(_ arrays: ArraySlice<Kept>) -> [UInt8] {
    // Each array comes behind a bracket or a comma.
    let length = arrays.reduce(1) { $0 + 1 + $1.frameBytes + $1.data.lengthInUTF16 }
    var chunk = WebChannelChunk.head(length)
    chunk.reserveCapacity(chunk.count + arrays.reduce(1) { $0 + 1 + $1.textBytes })
    var separator = UInt8(ascii: "[")
    for array in arrays {
      chunk.append(separator)
      chunk.append(UInt8(ascii: "["))
      chunk += "\(array.id),".utf8
      chunk += array.data.text
      chunk.append(UInt8(ascii: "]"))
      separator = UInt8(ascii: ",")
    }
    chunk.append(UInt8(ascii: "]"))
    return chunk
  }

  /// True when the response has to end: behind the first chunk of a long poll, at the limit of its
  /// size, when an acknowledgement is needed to go on, and behind the last array.
  var isBackDone: Bool {
    guard let back, back.bytes > 0, back.sent == lastID else { return false }
    return back.mode.isLongPoll || back.bytes >= limits.responseBytes || isFull || isEnded
  }

  /// Adds a keep-alive array when nothing else is to be sent.
  mutating func keepAlive() {
    if let back, back.sent == lastID { append([Self.noop]) }
  }

  // MARK: - Answers

  /// Returns the answer to a request with messages: the presence of a back channel, the newest
  /// array sent, and the bytes sent without an acknowledgement.
  func forwardAnswer() -> [UInt8] {
    let outstanding = kept.reduce(0) { $0 + ($1.id <= lastSent ? $1.textBytes : 0) }
    return WebChannelChunk.framed(Array("[\(hasBack ? 1 : 0),\(lastSent),\(outstanding)]".utf8))
  }

  static let noop = WebChannelData(Array(#"["noop"]"#.utf8))
  static let close = WebChannelData(Array(#"["close"]"#.utf8))
  static let stop = WebChannelData(Array(#"["stop"]"#.utf8))
}
