import TernServer
import Testing

@testable import TernAssembly
@testable import TernServerAssembly

@Suite("sections of a server") struct ServerSectionTests {
  private func limits(_ value: ConfigurationValue) throws(ConfigurationError) -> LimitOptions {
    try Assembler(catalog: testCatalog()).limitOptions(of: Configuration(limits: value))
  }

  private func auth(_ value: ConfigurationValue) throws(ConfigurationError) -> AuthOptions {
    try Assembler(catalog: testCatalog()).authOptions(of: Configuration(auth: value))
  }

  private static let ranges: [(key: String, least: Int64, most: Int64)] = [
    ("requestsPerAddress", 1, 1_000_000), ("requestsPerIdentity", 1, 1_000_000),
    ("burstSeconds", 1, 1_000_000), ("bodyBytes", 1, 256 << 20),
    ("memoryBytes", 16 << 20, 1 << 50), ("memoryBytesPerAddress", 1 << 20, 1 << 50),
    ("memoryBytesPerIdentity", 1 << 20, 1 << 50), ("backupGrowthBytes", 1 << 20, 1 << 50),
  ]

  @Test("each limit has a range, and its ends belong to it", arguments: ranges.map(\.key))
  func bounds(key: String) throws {
    let (_, least, most) = try #require(Self.ranges.first { $0.key == key })
    for number in [least, least + 1, most - 1, most] {
      _ = try limits([key: .integer(number)])
      _ = try limits([key: .text("\(number)")])
    }
    for number in [least - 1, most + 1, 0, -1, .min, .max] {
      let reason = "\"\(key)\": \(number) is not in \(least)...\(most)"
      #expect(throws: ConfigurationError.refused(section: "limits", reason: reason)) {
        try limits([key: .integer(number)])
      }
    }
  }

  @Test("each limit is the one of its name, and the others keep their standard")
  func names() throws {
    let all = try limits([
      "requestsPerAddress": 2, "requestsPerIdentity": 3, "burstSeconds": 4, "bodyBytes": 5,
      "memoryBytes": 16_777_216, "memoryBytesPerAddress": 1_048_577,
      "memoryBytesPerIdentity": 1_048_578, "backupGrowthBytes": 1_048_579, "databases": ["a", "b"],
    ])
    #expect(all.rates.requestsPerAddress == 2 && all.rates.requestsPerIdentity == 3)
    #expect(all.rates.burstSeconds == 4 && all.bodyBytes == 5 && all.memoryBytes == 16_777_216)
    #expect(all.memoryBytesPerAddress == 1_048_577 && all.memoryBytesPerIdentity == 1_048_578)
    #expect(all.backupGrowthBytes == 1_048_579 && all.databases == ["a", "b"])
    #expect(try limits([:]) == LimitOptions())
    #expect(try limits(["burstSeconds": .null]) == LimitOptions())
  }

  @Test("one text stands for a list of one")
  func lists() throws {
    for (value, texts) in [
      ("a", ["a"]), (.text("b"), ["b"]), (["a", .text("b")], ["a", "b"]), ([], []),
    ] as [(ConfigurationValue, [String])] {
      let options = try auth(["keys": value, "issuers": value, "audiences": value])
      #expect(options.keys == texts && options.issuers == texts && options.audiences == texts)
    }
    for value in [1, true, ["a": "b"], [1], [["a"]]] as [ConfigurationValue] {
      #expect(throws: ConfigurationError.self) { try auth(["keys": value]) }
    }
  }

  @Test("clocks may differ by five minutes", arguments: [-1, 0, 1, 299, 300, 301] as [Int64])
  func skew(seconds: Int64) throws {
    let value: ConfigurationValue = ["clockSkewSeconds": .integer(seconds)]
    guard !(0...300).contains(seconds) else {
      #expect(try auth(value).clockSkewSeconds == seconds)
      return
    }
    let reason = "\"clockSkewSeconds\": \(seconds) is not in 0...300"
    #expect(throws: ConfigurationError.refused(section: "auth", reason: reason)) {
      try auth(value)
    }
  }

  @Test("the kind of the authenticator is no option of the tokens")
  func kinds() throws {
    #expect(try auth(["kind": "tokens"]) == AuthOptions())
    #expect(
      throws: ConfigurationError.unknownKey(
        "key", section: "auth",
        known: ["kind", "keys", "issuers", "audiences", "clockSkewSeconds", "revocations"])
    ) { try auth(["key": "a"]) }
  }
}
