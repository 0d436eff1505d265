import TernCore
import TernTestKit
import Testing

@testable import TernGateway

@Suite("WebChannel, forms")
struct WebChannelFormTests {
  private static func form(_ text: String) throws -> WebChannelForm {
    try WebChannelForm(Array(text.utf8), limits: GatewayLimits())
  }

  private static func texts(_ form: WebChannelForm) -> [String] {
    form.maps.map { map in
      "\(map.id):" + (map.json.map { String(decoding: $0, as: UTF8.self) } ?? "-")
    }
  }

  @Test("header fields and messages, escaped as a browser does it")
  func handshake() throws {
    let headers = "X-Goog-Api-Client:gl-js/ fire/12.6.0\r\nAuthorization:Bearer a.b:c\r\n"
    let form = try Self.form(
      "headers=\(escapedForm(headers))&count=2&ofs=0&req1___data__=a+b&req0___data__="
        + escapedForm("{\"é\":\"🐧&=+%\"}"))
    #expect(form.headers["authorization"] == "Bearer a.b:c")
    #expect(form.headers["x-goog-api-client"] == "gl-js/ fire/12.6.0")
    #expect(Self.texts(form) == ["0:{\"é\":\"🐧&=+%\"}", "1:a b"])
  }

  @Test("messages out of order, behind a gap, and ones that could not be encoded")
  func order() throws {
    let form = try Self.form(
      "count=3&ofs=7&req102___data__=c&req100___data__=a&req101_type=_badmap&other=1")
    #expect(Self.texts(form) == ["107:a", "108:-", "109:c"])
    #expect(try Self.form("").maps.isEmpty)
    #expect(try Self.form("count=0").maps.isEmpty)
    #expect(try Self.form("&&&count=1&&req0___data__=x&").maps.count == 1)
    let several = try Self.form("count=1&ofs=1&req0_type=x&req0___data__=y&req0_more=z")
    #expect(Self.texts(several) == ["1:y"])
  }

  @Test("whatever arrives is a form or an error, and never more messages than are allowed")
  func anything() throws {
    let seed: UInt64 = .random(in: 0...(.max))
    var random = SeededGenerator(seed: seed)
    let parts = [
      "count=", "ofs=", "req0", "___data__=", "&", "=", "%", "%41", "%C3", "1", "99", "-", "_",
      "headers=", "a:b%0D%0A", "req1___data__={}", "\u{0}", "é", "9007199254740992", "req",
    ]
    for _ in 0..<20_000 {
      let text = (0...random.roll(14)).map { _ in parts[random.roll(parts.count)] }.joined()
      var bytes = Array(text.utf8)
      if random.roll(3) == 0, !bytes.isEmpty {
        bytes[random.roll(bytes.count)] = UInt8(random.roll(256))
      }
      do throws(WebChannelError) {
        let form = try WebChannelForm(bytes, limits: GatewayLimits())
        #expect(form.maps.count <= 1_000, "seed \(seed)")
        #expect(form.maps.allSatisfy { $0.id >= 0 }, "seed \(seed)")
      } catch {
        #expect((400..<500).contains(error.status), "seed \(seed): \(error)")
      }
    }
  }
}
