import Testing

@testable import TernGateway

@Suite("the places at which HTTP/2 is cut") struct HTTP2FrameCutsTests {
  private static let preface = [UInt8](repeating: 80, count: 24)

  private static func frame(_ type: UInt8, _ bytes: Int) -> [UInt8] {
    [0, UInt8(bytes >> 8), UInt8(bytes & 255), type, 0, 0, 0, 0, 1]
      // Payloads look like heads of streams.
      + [UInt8](repeating: 1, count: bytes)
  }

  @Test("on a connection that resets its streams few begin, and the frames between go along")
  func share() {
    var cuts = HTTP2FrameCuts(most: 100, fewest: 3)
    let opening = Self.frame(1, 20) + Self.frame(3, 4)
    var bytes = Self.preface + Self.frame(4, 0)
    for _ in 0..<7 { bytes += opening }
    var lengths: [Int] = []
    while !bytes.isEmpty {
      let count = cuts.prefix(of: bytes)
      lengths.append(count)
      bytes.removeFirst(count)
    }
    #expect(lengths == [24 + 9 + 3 * opening.count, 3 * opening.count, opening.count])
  }

  @Test("streams that are not reset begin together, up to the limit; a reset now and then is none")
  func together() {
    var cuts = HTTP2FrameCuts(most: 20, fewest: 3)
    #expect(cuts.prefix(of: Self.preface) == Self.preface.count)
    let openings = (0..<20).flatMap { _ in Self.frame(1, 20) }
    #expect(cuts.prefix(of: openings + openings) == openings.count)
    #expect(cuts.prefix(of: openings) == openings.count)
    let resets = (0..<10).flatMap { _ in Self.frame(3, 4) }
    #expect(cuts.prefix(of: resets + openings) == resets.count + openings.count)
    // Twenty of sixty were reset, then.
    let more = (0..<10).flatMap { _ in Self.frame(3, 4) }
    #expect(cuts.prefix(of: more + openings) == more.count + 3 * (openings.count / 20))
  }

  @Test("data of any length pass whole, however they arrive")
  func data() {
    var cuts = HTTP2FrameCuts(most: 0, fewest: 0)
    let bytes = Self.preface + Self.frame(4, 6) + Self.frame(0, 5_000) + Self.frame(8, 4)
    for size in [1, 7, 100, 10_000] {
      cuts = HTTP2FrameCuts(most: 0, fewest: 0)
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = rest.prefix(size)
        #expect(cuts.prefix(of: part) == part.count)
        rest = rest.dropFirst(size)
      }
    }
  }

  @Test("every stream begins once, wherever the bytes are cut", arguments: 1..<60)
  func parts(size: Int) {
    var cuts = HTTP2FrameCuts(most: 2, fewest: 1)
    var bytes = Self.preface
    for length in 0..<30 { bytes += Self.frame(1, length * 7) + Self.frame(0, length) }
    var (rest, held, passed) = (bytes[...], [UInt8](), [UInt8]())
    while !rest.isEmpty || !held.isEmpty {
      held += rest.prefix(size)
      rest = rest.dropFirst(size)
      let count = cuts.prefix(of: held)
      passed += held.prefix(count)
      held.removeFirst(count)
    }
    #expect(passed == bytes)
  }
}
