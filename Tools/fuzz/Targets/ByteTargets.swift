import TernCore
import TernDocumentWire
import TernTransport
import TernTransportTCP

extension FuzzTarget {
  /// Our own framing.
  static let frames = FuzzTarget("frames", samples: frameSamples) { input in
    let limit = FrameLimit(bytes: 2_000)
    let whole = read(frames: [input], limit)
    let cut = read(frames: pieces(input), limit)
    if whole.frames != cut.frames { return "other frames when the bytes come in pieces" }
    if whole.isRefused != cut.isRefused { return "refused or not, as the bytes are cut" }
    if whole.frames.contains(where: { $0.count > limit.bytes }) { return "a frame over the limit" }
    return nil
  }

  private static var frameSamples: [[UInt8]] {
    let preamble = Array("TERN".utf8) + [0, 0, 0, 1]
    func frame(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + text.utf8 }
    return [
      preamble, preamble + frame("{}") + frame("") + frame(String(repeating: "x", count: 200)),
      preamble + [0, 0, 7, 208] + [UInt8](repeating: 7, count: 2_000),
      preamble + [0xFF, 0xFF, 0xFF, 0xFF],
    ]
  }

  private static func read(
    frames pieces: [[UInt8]], _ limit: FrameLimit
  ) -> (frames: [[UInt8]], isRefused: Bool) {
    var reader = FrameReader(limit: limit)
    for piece in pieces {
      do throws(LinkClosure) {
        try reader.consume(piece.span)
      } catch {
        return (reader.takeFrames(), true)
      }
    }
    return (reader.takeFrames(), false)
  }

  /// Frames and messages about documents. The first byte says what the others are.
  static let documents = FuzzTarget(
    "documents", samples: documentSamples, words: ["projects/p/databases/(default)/documents/c/d"]
  ) { input in
    guard let kind = input.first else { return nil }
    let bytes = Array(input.dropFirst())
    let methods = DocumentMethod.allCases
    if Int(kind) % (methods.count + 1) == methods.count { return checkFrame(bytes) }
    let method = methods[Int(kind) % (methods.count + 1)]
    guard let request = try? DocumentRequest.decode(method, bytes) else { return nil }
    let again = request.encode()
    guard (try? DocumentRequest.decode(method, again))?.encode() == again else {
      return "a request of \(method.rawValue) is not read as it was written"
    }
    return nil
  }

  private static func checkFrame(_ bytes: [UInt8]) -> String? {
    if let frame = try? DocumentClientFrame.decode(bytes) {
      guard (try? DocumentClientFrame.decode(frame.encode())) == frame else {
        return "a client's frame is not read as it was written"
      }
    }
    if let frame = try? DocumentServerFrame.decode(bytes) {
      guard (try? DocumentServerFrame.decode(frame.encode())) == frame else {
        return "a server's frame is not read as it was written"
      }
    }
    return nil
  }

  /// One message of protobuf in the shape of a commit, given to every method; and frames.
  private static var documentSamples: [[UInt8]] {
    func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      [number << 3 | 2, UInt8(bytes.count & 0x7F)] + bytes
    }
    let database = Array("projects/p/databases/d".utf8)
    let name = database + Array("/documents/c/x".utf8)
    let text = field(1, Array("a".utf8)) + field(2, [0x10, 0x05])
    let document = field(1, name) + field(2, text)
    let write = field(1, document) + field(3, field(1, Array("a".utf8)))
    let commit = field(1, database) + field(2, write)
    let methods = (0..<UInt8(DocumentMethod.allCases.count)).map { [$0] + commit }
    let frames: [DocumentClientFrame] = [
      .open(stream: 1, DocumentCallOpening(.commit, metadata: [.init("a", "b")], message: commit)),
      .message(stream: 2, commit), .halfClose(stream: 3), .cancel(stream: 4), .ping,
    ]
    let mark = UInt8(DocumentMethod.allCases.count)
    return methods + frames.map { [mark] + $0.encode() }
  }
}
