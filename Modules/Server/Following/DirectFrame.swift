import TernCore

/// One frame of a link that carries requests without a session: a kind, a head and a tail.
///
/// The head is a small JSON object, which names the request. The tail holds the data, and is read
/// only by an operation that needs it. Source: Docs/Formats/direct-link.md.
package struct DirectFrame: Sendable {
  /// The kind of a frame, its first byte: no frame of the tree and none of documents begins so.
  package enum Kind: UInt8, Sendable {
    case request = 0x20
    case answer = 0x21
  }

  /// The most bytes of a head: credentials, names and texts of rejections.
  package static let headBytes = 256 << 10

  /// The most Unicode scalars of a text in an answer; longer ones are cut.
  package static let textScalars = 16_384

  /// The bytes in front of a head: the kind, and the head's length in four bytes.
  private static let prefixBytes = 5

  /// The dialect of heads: the user of a credential may nest as deep as any text, and lies below.
  private static let headOptions = JSONOptions(depthLimit: JSONOptions.standardDepth + 4)

  let kind: Kind
  /// The request's number on its link, which its answer repeats.
  package let number: UInt64
  /// The members of the head.
  let head: JSONValue
  /// The data of the operation or the answer; empty for none.
  let tail: [UInt8]

  /// Returns true when a link whose first frame is this one carries requests without a session.
  package static func begins(with frame: [UInt8]) -> Bool {
    frame.first == Kind.request.rawValue
  }

  /// A frame to be written.
  ///
  /// - Parameter members: The head without its number.
  init(_ kind: Kind, _ number: UInt64, _ members: [JSONValue.Member], tail: [UInt8] = []) {
    self.kind = kind
    self.number = number
    head = .object([.init("r", .integer(Int64(clamping: number)))] + members)
    self.tail = tail
  }

  /// Reads a frame of an expected kind; its tail is not looked at.
  ///
  /// - Throws: ``DirectFrameError/malformed(_:)``.
  /// - Complexity: O(*n*) in the bytes of the head; the tail is copied.
  package init(_ bytes: [UInt8], _ kind: Kind) throws(DirectFrameError) {
    guard bytes.first == kind.rawValue else { throw .malformed("a frame of another kind") }
    guard bytes.count >= Self.prefixBytes else { throw .malformed("a frame without a head") }
    let length = bytes[1..<Self.prefixBytes].reduce(0) { $0 << 8 | Int($1) }
    guard length <= Self.headBytes, length <= bytes.count - Self.prefixBytes else {
      throw .malformed("a head of \(length) bytes")
    }
    let end = Self.prefixBytes + length
    do throws(JSONError) {
      head = try JSONValue(parsing: Array(bytes[Self.prefixBytes..<end]), Self.headOptions)
    } catch {
      throw .malformed("a head that is no JSON: \(error)")
    }
    guard let number = head["r"]?.integer, number >= 0 else {
      throw .malformed("a head without a number")
    }
    self.kind = kind
    self.number = UInt64(number)
    tail = Array(bytes[end...])
  }

  /// Returns the number of a frame, whose kind and tail are not looked at; `nil` for what is none.
  static func number(of bytes: [UInt8]) -> UInt64? {
    guard bytes.count >= prefixBytes else { return nil }
    let length = bytes[1..<prefixBytes].reduce(0) { $0 << 8 | Int($1) }
    guard length <= headBytes, length <= bytes.count - prefixBytes else { return nil }
    let text = Array(bytes[prefixBytes..<(prefixBytes + length)])
    let number = (try? JSONValue(parsing: text, headOptions))?["r"]?.integer
    return number.flatMap { UInt64(exactly: $0) }
  }

  /// The frame as it travels.
  ///
  /// - Throws: ``DirectFrameError/tooLong(_:limitBytes:)`` when the head exceeds ``headBytes``.
  func encoded() throws(DirectFrameError) -> [UInt8] {
    let head = head.bytes
    guard head.count <= Self.headBytes else { throw .tooLong("head", limitBytes: Self.headBytes) }
    return encoded(behind: head)
  }

  /// The frame as it travels, of a head that is short whatever its request is.
  func encodedShort() -> [UInt8] { encoded(behind: head.bytes) }

  private func encoded(behind head: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.prefixBytes + head.count + tail.count)
    bytes.append(kind.rawValue)
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: head.count >> shift)) }
    bytes += head
    bytes += tail
    return bytes
  }
}

extension DirectFrame {
  /// Returns a text of the head.
  func text(_ name: String) throws(DirectFrameError) -> String {
    guard let text = head[name]?.text else { throw .malformed("a head without \(name)") }
    return text
  }

  /// Returns a number of the head.
  func integer(_ name: String) throws(DirectFrameError) -> Int64 {
    guard let number = head[name]?.integer else { throw .malformed("a head without \(name)") }
    return number
  }

  /// Reads the tail as JSON.
  func tailValue() throws(DirectFrameError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: tail) } catch {
      throw .invalid(number, "Invalid data: \(error).")
    }
  }
}

/// The reason a frame of a link for requests without a session cannot be read or written.
package enum DirectFrameError: Error, Hashable, Sendable {
  /// The frame is not one of such a link; close the link. The text says what it is instead.
  case malformed(String)
  /// The head is sound, and the data break a rule; answer the request of that number with the text.
  case invalid(UInt64, String)
  /// A part of the frame is longer than it may be; nothing was sent.
  case tooLong(String, limitBytes: Int)
  /// The operation or the answer is none of those that nodes pass on.
  case notCarried
}

extension DirectFrameError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformed(let what): what
    case .invalid(_, let text): text
    case .tooLong(let part, let limit):
      "The request cannot be passed on to the node that leads: its \(part) is longer than "
        + "\(limit) bytes."
    case .notCarried: "The request cannot be passed on to the node that leads."
    }
  }
}
