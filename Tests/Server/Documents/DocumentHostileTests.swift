import Foundation
import TernCore
import TernDocumentWire
import TernQuery
import TernSync
import TernTestKit
import Testing

@testable import TernServer

/// Any bytes leave the server running, with no more memory than before.
@Suite("Hostile messages about documents")
struct DocumentHostileTests {
  private static let query: DocumentQuery = {
    let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    return (try? all.where("n", .greaterThan, 1).ordered(by: "n").first(3)) ?? all
  }()

  private static let value = DocumentValue.map([
    "a": .array([1, "x", .null, .map(["b": true])]), "d": .double(1.5), "e": .bytes([1, 2]),
  ])

  /// A request of every method, and every kind of message of a stream.
  private static let requests: [DocumentRequest.Body] = {
    let set = DocumentMutation("c/a", .set(DocumentFields(["v": value, "n": 3])))
    let patch = DocumentMutation(
      "c/b", .patch(["n": 2], mask: DocumentFieldMask(["n", "m"])), precondition: .exists(true),
      transforms: [
        DocumentFieldTransform("t", .serverTimestamp),
        DocumentFieldTransform("u", .increment(.integer(4))),
        DocumentFieldTransform("l", .arrayUnion([1, "z"])),
      ])
    let writes = [set, patch, DocumentMutation("c/d", .delete), DocumentMutation("c/e", .verify)]
    let either =
      (try? query.filtered(.or([.where("n", .in, .array([1, 2, 3])), .where("m", .equal, 1)])))
      ?? query
    return [
      .get("c/a", mask: ["n", "v.a"], .now),
      .get("c/a", mask: nil, .time(DocumentVersion(microseconds: 5))),
      .list(
        DocumentListing(
          parent: "c/a", collectionID: "k", page: DocumentPageRequest(size: 3, token: "0102"))),
      .create(CollectionPath(unchecked: "c"), id: "x", DocumentFields(["v": value]), mask: ["n"]),
      .update(patch, mask: ["n"]),
      .delete(DocumentMutation("c/a", .delete, precondition: .exists(true))),
      .batchGet(["c/a", "c/b", "d/e"], mask: ["n"], .begin(.readWrite(retrying: [1, 2]))),
      .batchGet(["c/a"], mask: nil, .transaction([1, 2, 3])), .begin(.readOnly(nil)),
      .commit(writes, transaction: [], DocumentWriteHeader(stream: 7, sequence: 1)),
      .commit([set], transaction: [9, 9], nil), .rollback(transaction: [1]), .query(either, .now),
      .query(query, .begin(.readOnly(DocumentVersion(microseconds: 1)))),
      .aggregate(query, [.init("c", .count(upTo: 5)), .init("s", .sum("n"))], .now),
      .partition(
        DocumentPartitioning(query: (try? .group("k").ordered(by: .key)) ?? query, count: 4)),
      .listCollections(below: "c/a", DocumentPageRequest(size: 2), .now),
      .batchWrite([set, patch]),
      .write(DocumentWriteRequest(.handshake(stream: 77))),
      .write(DocumentWriteRequest(.writes(writes, DocumentWriteHeader(sequence: 1)), token: [1])),
      .write(DocumentWriteRequest(.outcomes(1...9), token: [1])),
      .listen(
        .add(
          WatchTarget(
            id: 2, subject: .query(query.target), resume: .token([1, 2]), expectedCount: 3))),
      .listen(.add(WatchTarget(id: 4, subject: .documents(["c/a", "c/b"])))), .listen(.remove(2)),
    ]
  }()

  /// Bytes that are almost a message.
  private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let index = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<9, using: &random) {
      case 0: bytes.removeLast(bytes.count - index)
      case 1: bytes.insert(.random(in: 0...255, using: &random), at: index)
      case 2 where !bytes.isEmpty: bytes.remove(at: index)
      // Another number or form of a field.
      case 3 where !bytes.isEmpty: bytes[index] = UInt8.random(in: 0..<16, using: &random) << 3 | 2
      // Huge lengths.
      case 4: bytes.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF, 0x7F], at: index)
      case 5:
        bytes.insert(
          contentsOf: [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], at: index)
      // A part of it once more, inside itself or behind.
      case 6 where bytes.count < 5_000: bytes.insert(contentsOf: bytes[index...], at: index)
      case 7 where bytes.count < 5_000: bytes += bytes
      case _ where !bytes.isEmpty: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      default: bytes.append(0xFF)
      }
    }
    return bytes
  }

  @Test("damaged in all ways, of every method: 10,000 of them", arguments: UInt64(1)...20)
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bench = try DocumentBench()
    try bench.link(1)
    var opened = 0
    for call in UInt32(1)...500 {
      let body = DocumentHostileTests.requests[
        Int.random(in: DocumentHostileTests.requests.indices, using: &random)]
      let request = DocumentRequest(body, in: benchDatabase)
      let bytes = damaged(request.encode(), &random)
      let method =
        Bool.random(using: &random)
        ? request.method : DocumentMethod.allCases.randomElement(using: &random) ?? .listen
      var frames: [DocumentClientFrame] = [.open(stream: call, DocumentCallOpening(method))]
      if method == .write, Bool.random(using: &random) {
        let handshake = DocumentRequest(
          .write(DocumentWriteRequest(.handshake(stream: UInt128(call)))), in: benchDatabase)
        frames.append(.message(stream: call, handshake.encode()))
      }
      frames.append(.message(stream: call, bytes))
      if opened % 3 == 0 { frames.append(.halfClose(stream: call)) }
      if opened > 100 { frames.append(.cancel(stream: call - 50)) }
      opened += 1
      try bench.runUnread(frames.map { bench.frame(1, $0) })
    }
    #expect(bench.closed.isEmpty, "a message ends its call at most")
    try bench.link(2)
    _ = try bench.ask(2, 1, .query(DocumentHostileTests.query, .now)).get()
    try bench.run([.tick])
  }

  @Test("messages in messages without end, and counts without bounds")
  func bombs() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    for (call, (method, bytes)) in zip(UInt32(1)..., DocumentBombs().messages) {
      try bench.send(
        1, .open(stream: call, DocumentCallOpening(method)), .message(stream: call, bytes))
      let heard = bench.take(1)
      let isRefused = heard.contains { item in
        switch item {
        case .end(_, let status?): status.code == .invalidArgument
        case .response(_, .listen(.target(let change))):
          if case .removed(let status?) = change.kind {
            status.code == .invalidArgument
          } else {
            false
          }
        case .end, .response, .pong: false
        }
      }
      #expect(isRefused, "\(call) \(method)")
    }
    #expect(bench.closed.isEmpty)
  }

  @Test("what was refused leaves nothing behind", .enabled(if: Memory.resident > 0))
  func memory() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    var random = SeededGenerator(seed: 99)
    var call: UInt32 = 0
    func round() throws {
      for _ in 0..<300 {
        call += 1
        let body = DocumentHostileTests.requests[
          Int.random(in: DocumentHostileTests.requests.indices, using: &random)]
        let request = DocumentRequest(body, in: benchDatabase)
        // A megabyte behind every request with unknown fields.
        let bytes =
          request.encode() + [0xFA, 0x3F, 0x80, 0x80, 0x40] + [UInt8](repeating: 7, count: 1 << 20)
        try bench.runUnread([
          bench.frame(1, .open(stream: call, DocumentCallOpening(request.method))),
          bench.frame(1, .message(stream: call, damaged(bytes, &random))),
          bench.frame(1, .cancel(stream: call)),
        ])
      }
    }
    try round()
    let before = Memory.resident
    try round()
    try round()
    let grown = Memory.resident - before
    #expect(grown < 64 << 20, "600 MiB were sent, \(grown) bytes are held")
  }
}

/// The memory of this process.
private enum Memory {
  /// Bytes that are resident; 0 where the system does not say.
  static var resident: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
  }
}
