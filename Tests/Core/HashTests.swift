import Testing

@testable import TernCore

@Suite("Simple hash")
struct HashTests {
  static let vectors: [(String, String)] = [
    ("null", ""),
    ("0", "7ysMph9WPitGP7poMnMHMVPtUlI="),
    ("-0.0", "m/gA365Q5OBo06Bg8wdybAAiMSQ="),
    ("-0", "m/gA365Q5OBo06Bg8wdybAAiMSQ="),
    ("1", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
    ("-7", "4kvJSUZG0kcu4u9l8qT9VvnCkTI="),
    ("2.5", "JcwhpD1KDfTGMpnrtjJLqxGpQ2c="),
    ("2.47", "EsibHXKcBp2/b/bn/a0C5WffcUU="),
    ("true", "E5z61QM0lN/U2WsOnusszCTkR8M="),
    ("false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
    (#""""#, "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
    (#""tea""#, "sgM9rtggZvDzOzQ3zFOOjD0osyM="),
    (#""a:b""#, "ee/A/JrO8JDeNIboBwpC0jeeV1A="),
    (#"{".value":5,".priority":1}"#, "oUSZ9VFwUrevB81K4PcN+7BHDJw="),
    (#"{".value":5,".priority":"hi"}"#, "YZi5gZ6pRu756SUFxjDurfTY1+Q="),
    (#"{"x":1}"#, "LkoDN24bwRWG2p4jGZoe8M/Acf8="),
    (#"{"b":1,"a":2,"10":3,"9":4}"#, "TGvn+e6qlVLQpUieYzMAtR6kwgo="),
    (
      #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":"k"},"c":1,"d":{".value":1,".priority":-1}}"#,
      "mlw/vjZTB6K2KvGQIY0cJW32ZTQ="
    ),
    (#"{".priority":4,"k":"v"}"#, "Nn+Ow96rSzz0IkefsQcwCpUM8ZE="),
    (#"{"user":{"name":"Mina","age":30},"on":true}"#, "yRYM6OgXzM79vIbv/vu78yOz8pc="),
    (
      #"{"a":{".value":1,".priority":9},"b":{".value":1,".priority":3}}"#,
      "je6Mhq5NMKikjYAJDMGjYIh7b2o="
    ),
  ]

  @Test("vectors", arguments: vectors)
  func vector(json: String, hash: String) throws {
    #expect(try TreeNode(json: json).hash == hash)
  }

  @Test("where every child has a priority, clients for Apple platforms take the order of keys")
  func apple() throws {
    let odd = #"{"a":{".value":1,".priority":9},"b":{".value":1,".priority":3}}"#
    #expect(try TreeNode(json: odd).appleHash == "zmP7oPe4e/bbFHDaaJp8XoXzIRo=")
    let inside = try TreeNode(json: #"{"x":\#(odd),"y":1}"#)
    #expect(inside.appleHash != nil && inside.appleHash != inside.hash)
    for same in ["1", "null", #"{"a":1}"#, #"{"a":{".value":1,".priority":9},"b":1}"#] {
      #expect(try TreeNode(json: same).appleHash == nil, "\(same)")
    }
  }

  @Test("an unresolved server value hashes like nothing that is stored")
  func deferred() {
    #expect(TreeNode(.serverValue(.timestamp)).hash != TreeNode(.string("")).hash)
    #expect(TreeNode(.serverValue(.timestamp)).compoundHash.hashes.count == 2)
  }

  @Test("long inputs cross block borders", arguments: [54, 55, 56, 63, 64, 65, 119, 1000])
  func padding(length: Int) {
    var digest = SHA1()
    digest.update(repeatElement(UInt8(ascii: "a"), count: length))
    #expect(digest.digest().count == 20)
  }

  @Test("the digest is that of the bytes, however they were handed over", arguments: 0...3)
  func portions(lead: Int) {
    let text = String((0..<300).map { Character(UnicodeScalar(UInt8(33 + $0 % 90))) })
    let bytes = Array(text.utf8)
    for length in stride(from: 0, through: 280, by: 7) {
      var single = SHA1()
      for byte in bytes[..<(lead + length)] { single.update(byte) }
      var spans = SHA1()
      for byte in bytes[..<lead] { spans.update(byte) }
      spans.update(bytes.span.extracting(lead..<(lead + length)))
      let expected = single.digest()
      #expect(spans.digest() == expected)

      var texts = SHA1()
      texts.update(String(text.prefix(lead)))
      texts.update(String(text.dropFirst(lead).prefix(length)))
      let words = texts.finish()
      let found = Base64.encode(words)
      let characters = (0..<28).map {
        UInt8(truncatingIfNeeded: found[$0 >> 2] >> (24 - 8 * UInt32($0 & 3)))
      }
      #expect(characters == Base64.encode(expected))
    }
  }

  @Test("a million times a")
  func million() {
    var digest = SHA1()
    digest.update(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
    let expected: [UInt8] = [
      0x34, 0xAA, 0x97, 0x3C, 0xD4, 0xC4, 0xDA, 0xA4, 0xF6, 0x1E, 0xEB, 0x2B, 0xDB, 0xAD, 0x27,
      0x31, 0x65, 0x34, 0x01, 0x6F,
    ]
    #expect(digest.digest() == expected)
  }

  @Test("the hash of the client in JavaScript differs where its logarithm is rounded")
  func scriptHash() throws {
    // Computed by the client's own function, `doubleToIEEE754String`.
    for (text, hash) in [
      ("63.99999999999999", "PJmtFwMdaAcDnQ3acc9zgNHNABM="),
      ("9007199254740991", "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
      ("-63.99999999999999", "xFWrl1xct4BaOOnrD7ffHp2XOyI="),
    ] {
      let node = try TreeNode(json: text)
      #expect(node.scriptHash == hash && node.hash != hash, "\(text)")
      #expect(try TreeNode(json: "{\"a\":\(text)}").scriptHash != nil)
    }
    for text in ["0.1", "8", "0.0078125", "64.00000000000001", "63.9", "0", "-0.0", "\"8\"", "{}"] {
      #expect(try TreeNode(json: text).scriptHash == nil, "\(text)")
    }
  }
}
