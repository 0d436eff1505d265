import TernCore
import Testing

@testable import TernDocumentWire

@Suite("Frames of a document link")
struct FrameTests {
  static let client: [DocumentClientFrame] = [
    .open(stream: 1, DocumentCallOpening(.listen)),
    .open(
      stream: 300,
      DocumentCallOpening(
        .commit, metadata: [.init("authorization", "Bearer é"), .init("x", "")], message: [1, 2])),
    .open(stream: .max, DocumentCallOpening(.rollback, message: [])),
    .message(stream: 1, [UInt8](repeating: 7, count: 500)), .message(stream: 2, []),
    .halfClose(stream: 128), .cancel(stream: 0), .ping,
  ]

  static let server: [DocumentServerFrame] = [
    .message(stream: 1, [1]), .message(stream: 70_000, []), .answer(stream: 1, [2, 3]),
    .end(stream: 1, nil), .end(stream: 5, DocumentStatus(.aborted, "again, é")), .pong,
  ]

  @Test("come back as they were sent")
  func roundTrip() throws {
    for frame in FrameTests.client {
      #expect(try DocumentClientFrame.decode(frame.encode()) == frame)
    }
    for frame in FrameTests.server {
      #expect(try DocumentServerFrame.decode(frame.encode()) == frame)
    }
  }

  @Test("never look like those of the tree")
  func firstByte() {
    for frame in FrameTests.client { #expect(frame.encode().first != UInt8(ascii: "{")) }
    for frame in FrameTests.server { #expect(frame.encode().first != UInt8(ascii: "{")) }
  }

  @Test("have the bytes of the format")
  func golden() {
    #expect(DocumentClientFrame.ping.encode() == [6])
    #expect(DocumentClientFrame.message(stream: 300, [9]).encode() == [3, 0xAC, 2, 9])
    #expect(
      DocumentClientFrame.open(
        stream: 1, DocumentCallOpening(.write, metadata: [.init("a", "b")])
      ).encode() == [1, 1, 5, 0x57, 0x72, 0x69, 0x74, 0x65, 1, 1, 0x61, 1, 0x62])
    #expect(
      DocumentServerFrame.end(stream: 2, DocumentStatus(.aborted, "x")).encode()
        == [0x13, 2, 10, 1, 0x78])
  }

  @Test("cut short are refused")
  func truncated() {
    for frame in FrameTests.client {
      let bytes = frame.encode()
      guard case .open = frame else { continue }
      for length in 0..<min(bytes.count, 20) {
        #expect(throws: DocumentWireError.self) {
          if case .open(_, let opening) = try DocumentClientFrame.decode(Array(bytes[..<length])),
            opening.message != nil || length < bytes.count - 2
          {
            throw DocumentWireError.malformed(.frame)
          }
        }
      }
    }
    #expect(throws: DocumentWireError.malformed(.frame)) { try DocumentClientFrame.decode([]) }
    #expect(throws: DocumentWireError.malformed(.frame)) { try DocumentClientFrame.decode([0x7B]) }
    #expect(throws: DocumentWireError.malformed(.frame)) { try DocumentClientFrame.decode([6, 0]) }
    #expect(throws: DocumentWireError.malformed(.frame)) { try DocumentServerFrame.decode([1, 1]) }
  }

  @Test("with too much in them are refused")
  func limits() throws {
    let large = [UInt8](repeating: 0, count: DocumentWireLimits.requestBytes + 1)
    let isTooLarge = DocumentWireError.tooLarge(
      byteCount: large.count, limit: DocumentWireLimits.requestBytes)
    #expect(throws: isTooLarge) { _ = try DocumentRequest.decode(.commit, large) }
    let huge = [UInt8](repeating: 0, count: DocumentWireLimits.messageBytes + 1)
    #expect(throws: DocumentWireError.self) {
      _ = try DocumentServerFrame.decode(DocumentServerFrame.answer(stream: 1, huge).encode())
    }
    // The frame tells whose call it ends.
    let frame = DocumentClientFrame.message(stream: 7, large).encode()
    guard case .message(7, let read) = try DocumentClientFrame.decode(frame) else {
      Issue.record("a frame is read whatever the size of its message")
      return
    }
    #expect(read.count == large.count)
    let pairs = (0...DocumentWireLimits.metadataPairs).map {
      DocumentCallOpening.Entry("\($0)", "")
    }
    #expect(throws: DocumentWireError.malformed(.frame)) {
      try DocumentClientFrame.decode(
        DocumentClientFrame.open(stream: 1, .init(.listen, metadata: pairs)).encode())
    }
    let value = String(repeating: "x", count: DocumentWireLimits.metadataBytes)
    #expect(throws: DocumentWireError.self) {
      try DocumentClientFrame.decode(
        DocumentClientFrame.open(
          stream: 1, .init(.listen, metadata: [.init("authorization", value)])
        ).encode())
    }
  }

  @Test("cut the text of a failure to its limit")
  func status() throws {
    let text = String(repeating: "é", count: DocumentWireLimits.statusBytes)
    let frame = DocumentServerFrame.end(stream: 1, DocumentStatus(.internalError, text))
    guard case .end(_, let status?) = try DocumentServerFrame.decode(frame.encode()) else {
      Issue.record("an end stays an end")
      return
    }
    #expect(status.message.utf8.count == DocumentWireLimits.statusBytes)
  }
}
