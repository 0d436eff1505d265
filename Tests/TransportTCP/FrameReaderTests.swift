import TernTransport
import Testing

@testable import TernTransportTCP

@Suite("frame reader") struct FrameReaderTests {
  private static let hello = FrameReader.preamble

  private func read(
    _ bytes: [UInt8], limit: Int = 1000, by step: Int
  ) throws(LinkClosure) -> [[UInt8]] {
    var reader = FrameReader(limit: FrameLimit(bytes: limit))
    var start = 0
    while start < bytes.count {
      let end = min(start + step, bytes.count)
      try reader.consume(bytes.span.extracting(start..<end))
      start = end
    }
    return reader.takeFrames()
  }

  @Test("frames are the same however the bytes are cut", arguments: [1, 2, 3, 5, 7, 16, 1000])
  func anyCut(step: Int) throws {
    let body = [UInt8](0..<200)
    let wire =
      Self.hello + [0, 0, 0, 200] + body + [0, 0, 0, 0] + [0, 0, 0, 1, 9] + [0, 0, 0, 200] + body
    #expect(try read(wire, by: step) == [body, [], [9], body])
  }

  @Test("another protocol is recognised at its first byte")
  func foreign() {
    #expect(throws: LinkClosure.foreignPeer(Array("GET / HT".utf8))) {
      try read(Array("GET / HTTP/1.1\r\n".utf8), by: 100)
    }
    #expect(throws: LinkClosure.foreignPeer([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 2])) {
      try read([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 2], by: 3)
    }
  }

  @Test("a length over the limit is refused before its bytes come")
  func oversize() {
    #expect(throws: LinkClosure.frameTooLarge(bytes: 1001, limitBytes: 1000)) {
      try read(Self.hello + [0, 0, 3, 0xE9], by: 100)
    }
    #expect(throws: LinkClosure.frameTooLarge(bytes: Int(UInt32.max), limitBytes: 1000)) {
      try read(Self.hello + [255, 255, 255, 255], by: 100)
    }
  }

  @Test("it knows whether it stands between frames")
  func between() throws {
    var reader = FrameReader(limit: .standard)
    #expect(reader.isBetweenFrames)
    try reader.consume(Self.hello.span)
    #expect(reader.isBetweenFrames)
    try reader.consume([0, 0].span)
    #expect(!reader.isBetweenFrames)
    try reader.consume([0, 1].span)
    #expect(!reader.isBetweenFrames)
    try reader.consume([7].span)
    #expect(reader.isBetweenFrames)
    #expect(reader.takeFrames() == [[7]])
  }
}
