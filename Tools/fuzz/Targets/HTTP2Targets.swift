import TernGateway

extension FuzzTarget {
  /// The messages of a stream of gRPC.
  static let grpc = FuzzTarget(
    "grpc",
    samples: [
      [0, 0, 0, 0, 3, 1, 2, 3], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9], [1, 0, 0, 0, 1, 0],
      [0, 0, 0, 3, 0xE8] + [UInt8](repeating: 7, count: 1_000), [0, 0xFF, 0xFF, 0xFF, 0xFF],
    ]
  ) { input in
    let whole = ProtocolProbe.grpc([input], limitBytes: 1_000)
    let cut = ProtocolProbe.grpc(pieces(input), limitBytes: 1_000)
    return whole == cut ? nil : "\(whole) or, in pieces, \(cut)"
  }

  /// Connections of HTTP/2 whose streams carry gRPC and REST.
  static let http2 = FuzzTarget(
    "http2", samples: http2Samples, words: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{0}\u{0}\u{0}"]
  ) { input in
    converse(input)
    return nil
  }

  private static var http2Samples: [[UInt8]] {
    let message: [UInt8] = [0, 0, 0, 0, 2, 10, 0]
    let get = HTTP2Sample.block([
      (":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a.json"),
    ])
    var unary = HTTP2Sample()
    unary.add(1, 4, 1, HTTP2Sample.call("GetDocument"))
    unary.add(0, 1, 1, message)
    var listen = HTTP2Sample()
    listen.add(1, 4, 1, HTTP2Sample.call("Listen"))
    listen.add(0, 0, 1, message)
    listen.add(3, 0, 1, [0, 0, 0, 8])
    var padded = HTTP2Sample()
    padded.add(1, 0, 1, HTTP2Sample.call("Write"))
    padded.add(9, 4, 1, HTTP2Sample.block([("x", "y")]))
    padded.add(0, 9, 1, [1] + message + [0])
    var rest = HTTP2Sample()
    rest.add(1, 5, 1, get)
    rest.add(8, 0, 0, [0, 0, 1, 0])
    rest.add(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
    var control = HTTP2Sample()
    control.add(4, 1, 0, [])
    control.add(2, 0, 1, [0, 0, 0, 0, 1])
    control.add(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
    return [unary.bytes, listen.bytes, padded.bytes, rest.bytes, control.bytes]
  }
}

/// A connection of a client, frame by frame.
private struct HTTP2Sample {
  private(set) var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  init() { add(4, 0, 0, []) }

  mutating func add(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) {
    bytes += [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags]
    bytes += [0, 0, 0, stream]
    bytes += payload
  }

  /// Literal fields of a head, without a table.
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in fields {
      block.append(0)
      block.append(UInt8(name.utf8.count))
      block += Array(name.utf8)
      block.append(UInt8(value.utf8.count))
      block += Array(value.utf8)
    }
    return block
  }

  static func call(_ method: String) -> [UInt8] {
    block([
      (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
      (":path", "/google.firestore.v1.Firestore/\(method)"),
      ("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "5S"),
    ])
  }
}
