import TernCore
import TernSecurity
import Testing

@testable import TernTokens

/// A token that no server may accept, with the reason.
private struct Forgery: Sendable, CustomTestStringConvertible {
  let name: String
  let make: @Sendable (TokenBench) async throws -> String

  init(_ name: String, _ make: @escaping @Sendable (TokenBench) async throws -> String) {
    self.name = name
    self.make = make
  }

  var testDescription: String { name }

  /// A good payload as text.
  static let payload =
    #"{"sub":"ada","iat":\#(TokenBench.seconds - 10),"exp":\#(TokenBench.seconds + 3600)}"#
  static let header = #"{"alg":"HS256","typ":"JWT"}"#

  /// A header of this text over a good payload, signed with the secret.
  static func header(_ name: String, _ text: String) -> Forgery {
    Forgery(name) { try $0.raw(header: text, payload: payload) }
  }

  /// A payload of this text under a good header, signed with the secret.
  static func payload(_ name: String, _ text: String) -> Forgery {
    Forgery(name) { try $0.raw(header: header, payload: text) }
  }

  /// Good claims but for these, signed with the secret.
  static func claims(
    _ name: String, _ changes: [(String, JSONValue)], without: [String] = []
  ) -> Forgery {
    Forgery(name) { try $0.token(changes, without: without) }
  }

  /// A good token whose text was changed.
  static func text(
    _ name: String, _ change: @escaping @Sendable (String) -> String
  ) -> Forgery {
    Forgery(name) { change(try $0.token()) }
  }

  /// A good token whose parts were changed.
  static func parts(
    _ name: String, _ change: @escaping @Sendable (inout [String]) -> Void
  ) -> Forgery {
    text(name) { text in
      var parts = text.split(separator: ".").map(String.init)
      change(&parts)
      return parts.joined(separator: ".")
    }
  }

  /// HMAC with the text of a public key as the secret: the classic confusion of algorithms.
  static func confusion(_ name: String, _ key: String, header: String = header) -> Forgery {
    Forgery(name) { bench in
      let content =
        Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
      let signature = try await HMACForgery.sign(Array(content.utf8), with: Array(key.utf8))
      return content + "." + Base64URL.encode(signature)
    }
  }
}

private let signatures: [Forgery] = [
  .header("none", #"{"alg":"none"}"#), .header("None", #"{"alg":"None","typ":"JWT"}"#),
  .header("NONE", #"{"alg":"NONE"}"#), .header("nOnE", #"{"alg":"nOnE"}"#),
  Forgery("none without a signature") { bench in
    let header = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
    return header + "." + Base64URL.encode(Array(Forgery.payload.utf8)) + "."
  },
  .header("no algorithm", #"{"typ":"JWT"}"#), .header("algorithm null", #"{"alg":null}"#),
  .header("algorithm of another type", #"{"alg":256}"#),
  .header("algorithms in a list", #"{"alg":["HS256"]}"#),
  .header("lower case", #"{"alg":"hs256"}"#), .header("a space behind", #"{"alg":"HS256 "}"#),
  .header("HS384", #"{"alg":"HS384"}"#), .header("HS512", #"{"alg":"HS512"}"#),
  .header("PS256", #"{"alg":"PS256"}"#), .header("EdDSA", #"{"alg":"EdDSA"}"#),
  .header("RS256 over a secret's signature", #"{"alg":"RS256"}"#),
  .header("ES256 over a secret's signature", #"{"alg":"ES256"}"#),
  Forgery("HS256 over an RSA signature") {
    try $0.raw(header: Forgery.header, payload: Forgery.payload, by: $0.rsa)
  },
  Forgery("ES256 over an RSA signature") {
    try $0.raw(header: #"{"alg":"ES256"}"#, payload: Forgery.payload, by: $0.rsa)
  },
  Forgery("RS256 over a P-256 signature") {
    try $0.raw(header: #"{"alg":"RS256"}"#, payload: Forgery.payload, by: $0.p256)
  },
  .confusion("HS256 with the RSA key as secret", TestKeys.rsaPublic),
  .confusion("HS256 with the P-256 key as secret", TestKeys.p256Public),
  .confusion(
    "HS256 with the trimmed key as secret",
    String(TestKeys.rsaPublic.reversed().drop { $0 == "\n" }.reversed())),
  .confusion("HS256 with an empty secret", ""),
  .confusion("HS256 with another secret", String(decoding: TestKeys.otherSecret, as: UTF8.self)),
  .parts("a signature of zeros") {
    $0[2] = Base64URL.encode([UInt8](repeating: 0, count: 32))
  },
  Forgery("an ES256 signature of zeros") { bench in
    var parts = try bench.token(by: bench.p256).split(separator: ".").map(String.init)
    parts[2] = Base64URL.encode([UInt8](repeating: 0, count: 64))
    return parts.joined(separator: ".")
  },
  Forgery("an ES256 signature cut short") { bench in
    var parts = try bench.token(by: bench.p256).split(separator: ".").map(String.init)
    parts[2].removeLast(4)
    return parts.joined(separator: ".")
  },
  Forgery("an RS256 signature cut short") { bench in
    var parts = try bench.token(by: bench.rsa).split(separator: ".").map(String.init)
    parts[2].removeLast(4)
    return parts.joined(separator: ".")
  },
  .parts("a signature cut short") { $0[2].removeLast(4) },
  .parts("a signature with a byte more") { $0[2] += "AA" },
  .parts("an empty signature") { $0[2] = "" },
  .parts("another's payload") {
    $0[1] = Base64URL.encode(
      Array(Forgery.payload.replacing("ada", with: "bob").utf8))
  },
  .parts("another header under the same signature") {
    $0[0] = Base64URL.encode(Array(#"{"typ":"JWT","alg":"HS256"}"#.utf8))
  },
]

private let texts: [Forgery] = [
  .text("nothing") { _ in "" }, .text("dots") { _ in ".." }, .text("one part") { _ in "abc" },
  .text("two parts") { $0.split(separator: ".").dropLast().joined(separator: ".") },
  .text("four parts") { $0 + ".AA" }, .text("five parts, as encrypted") { $0 + ".AA.AA" },
  .text("a dot behind") { $0 + "." }, .text("a dot before") { "." + $0 },
  .text("a line break behind") { $0 + "\n" }, .text("a space before") { " " + $0 },
  .text("a zero byte behind") { $0 + "\0" }, .text("Bearer before") { "Bearer " + $0 },
  .text("quotes around") { "\"" + $0 + "\"" }, .text("padding behind") { $0 + "=" },
  .parts("padding in the payload") { $0[1] += "==" },
  .parts("the alphabet of plain base64") {
    $0[2] = $0[2].replacing("-", with: "+").replacing("_", with: "/") + "+/"
  },
  .parts("bits that stand for nothing") {
    // The last character of 32 bytes has two bits to spare, which are zero.
    let last = $0[2].removeLast()
    let scalar = last.unicodeScalars.first?.value ?? 0
    $0[2].unicodeScalars.append(Unicode.Scalar(scalar + 1) ?? "!")
  },
  .parts("a character of no alphabet") { $0[1] = "%" + $0[1].dropFirst() },
  .parts("letters beyond ASCII") { $0[1] = "ä" + $0[1].dropFirst() },
  .text("huge") { String(repeating: "A", count: 4 << 20) + "." + $0 },
  .claims("a payload beyond the limit", [("x", .string(String(repeating: "x", count: 16 << 10)))]),
  .header("a header that is no object", "[]"), .header("a header that is a text", #""HS256""#),
  .header("a header that is not JSON", "{alg:HS256}"),
  .header("a header with more behind", #"{"alg":"HS256"} {}"#),
  .header("the algorithm twice", #"{"alg":"none","alg":"HS256"}"#),
  .header("the algorithm twice, escaped", #"{"alg":"HS256","\u0061lg":"none"}"#),
  .header("critical members", #"{"alg":"HS256","crit":["exp"]}"#),
  .header("an unencoded payload", #"{"alg":"HS256","b64":false}"#),
  .header("encryption", #"{"alg":"HS256","enc":"A256GCM"}"#),
  .header("compression", #"{"alg":"HS256","zip":"DEF"}"#),
  .header("another type", #"{"alg":"HS256","typ":"at+jwt"}"#),
  .header("a type of another type", #"{"alg":"HS256","typ":["JWT"]}"#),
  .header("nested so deep", #"{"alg":"HS256","x":"# + String(repeating: "[", count: 5_000)),
]

private let names: [Forgery] = [
  .header("a key name of another type", #"{"alg":"HS256","kid":1}"#),
  .header("an empty key name", #"{"alg":"HS256","kid":""}"#),
  .header(
    "a huge key name", #"{"alg":"HS256","kid":"\#(String(repeating: "k", count: 300))"}"#),
  .confusion(
    "a key name that is a path", "\0", header: #"{"alg":"HS256","kid":"../../../dev/null"}"#),
  .confusion(
    "a key name that is a query", "x",
    header: #"{"alg":"HS256","kid":"x' UNION SELECT 'x"}"#),
  .confusion(
    "a key in the header", "0123456789abcdef0123456789abcdeX",
    header:
      #"{"alg":"HS256","jwk":{"kty":"oct","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZVg"}}"#
  ),
  .confusion(
    "a place to fetch the key from", "x",
    header: #"{"alg":"HS256","jku":"http://127.0.0.1:9/keys"}"#),
  .confusion(
    "a certificate in the header", "x", header: #"{"alg":"RS256","x5c":["MIIB"]}"#),
]

private let claims: [Forgery] = [
  .payload("a payload that is no object", "[]"), .payload("a payload of a text", #""ada""#),
  .payload("an empty payload", "{}"), .payload("a payload that is not JSON", "sub=ada"),
  .payload("a payload that is not UTF-8", "{\"sub\":\"\u{1}\"}"),
  .payload(
    "half of a character as the user",
    #"{"sub":"\ud800","exp":\#(TokenBench.seconds + 3600)}"#),
  .payload(
    "the other half of a character as the user",
    #"{"sub":"\udfff","exp":\#(TokenBench.seconds + 3600)}"#),
  .payload(
    "half of a character in a claim's name",
    #"{"sub":"ada","exp":\#(TokenBench.seconds + 3600),"x":{"\ud800a":1}}"#),
  .payload(
    "the user twice",
    #"{"sub":"ada","sub":"bob","exp":\#(TokenBench.seconds + 3600)}"#),
  .payload(
    "the end twice",
    #"{"sub":"ada","exp":1,"exp":\#(TokenBench.seconds + 3600)}"#),
  .payload(
    "a member twice inside",
    #"{"sub":"ada","exp":\#(TokenBench.seconds + 3600),"x":{"a":1,"a":2}}"#),
  .claims("expired", [("exp", .integer(TokenBench.seconds - 3_600))]),
  .claims("no end", [], without: ["exp"]), .claims("the end is null", [("exp", .null)]),
  .claims("the end is a text", [("exp", .string("9999999999"))]),
  .claims("the end is true", [("exp", .bool(true))]),
  .claims("the end is negative", [("exp", .integer(-1))]),
  .claims("the end is beyond all years", [("exp", .integer(.max))]),
  .claims("the end is a huge double", [("exp", .double(1e300))]),
  .claims("not yet", [("nbf", .integer(TokenBench.seconds + 3_600))]),
  .claims("the beginning is a text", [("nbf", .string("0"))]),
  .claims("issued in the future", [("iat", .integer(TokenBench.seconds + 3_600))]),
  .claims("the issue is a list", [("iat", .array([]))]),
  .claims("no user", [], without: ["sub"]), .claims("an empty user", [("sub", .string(""))]),
  .claims("a user that is a number", [("sub", .integer(7))]),
  .claims("a user that is null", [("sub", .null)]),
  .claims("a user that is an object", [("uid", .object([]))]),
  .claims("a huge user", [("sub", .string(String(repeating: "u", count: 129)))]),
  .claims("user_id of another type beside a user", [("user_id", .integer(1))]),
  .claims("an unknown power", [("tern", .string("root"))]),
  .claims("a power of another type", [("tern", .bool(true))]),
  .claims(
    "a power among the claims of a custom token",
    [
      ("uid", .string("ada")),
      ("claims", .object([.init("tern", .string("administrator"))])),
    ]),
  .claims(
    "a reserved name among the claims of a custom token",
    [("uid", .string("ada")), ("claims", .object([.init("sub", .string("bob"))]))]),
  .claims(
    "claims of another type in a custom token",
    [("uid", .string("ada")), ("claims", .array([]))]),
]

@Suite("forged tokens") struct ForgedTokenTests {
  @Test("there are at least sixty of them")
  func count() {
    let all = signatures + texts + names + claims
    #expect(all.count >= 60)
    #expect(Set(all.map(\.name)).count == all.count)
  }

  @Test("none is accepted, and each gets a reason", arguments: signatures + texts + names + claims)
  fileprivate func refused(forgery: Forgery) async throws {
    let bench = try await TokenBench()
    let token = try await forgery.make(bench)
    switch bench.judge(token) {
    case .success(let accepted): Issue.record("accepted: \(accepted)")
    case .failure(.expired): #expect(forgery.name == "expired")
    case .failure(.invalid(let reason)):
      #expect(reason.hasPrefix("The token is not valid: "), "\(reason)")
    }
    // What was refused is refused again, and the good one is still good.
    #expect(throws: AuthenticationError.self) { try bench.judge(token).get() }
    #expect(bench.judge(try bench.token()).user == "ada")
  }

  @Test("every token with one character changed is refused, or is the same token")
  func mutations() async throws {
    let bench = try await TokenBench()
    let good = Array(try bench.token().utf8)
    for index in good.indices {
      for other in [UInt8(ascii: "A"), UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), 0] {
        var forged = good
        forged[index] = other
        if forged == good { continue }
        let verdict = bench.judge(String(decoding: forged, as: UTF8.self))
        #expect(verdict.user == nil, "at \(index)")
      }
    }
  }
}
