/// Paths and keys that no tree has.
enum HostilePaths {
  /// Characters no key has. Source: realtime reference, section 1.5.
  private static let forbidden: [String] =
    [".", "#", "$", "[", "]", "\u{7F}"] + (UInt8(0)..<32).map { String(UnicodeScalar($0)) }

  /// Keys with such a character in every place it can have.
  private static let marked: [String] = forbidden.flatMap { mark -> [String] in
    [mark, mark + "a", "a" + mark, "a" + mark + "b", "é" + mark, mark + mark]
  }

  private static let long: [String] = [
    ("k", 769), ("k", 770), ("k", 1_000), ("k", 5_000), ("€", 257), ("€", 300), ("😀", 193),
    ("😀", 250),
  ].map { text, count in String(repeating: text, count: count) }

  private static let reserved = [
    ".info", ".value", ".sv", ".indexOn", ".read", ".settings", "..", "...", "a..b", "$id",
  ]

  /// Keys that are none, without a slash in them.
  static let keys: [String] = marked + long + reserved

  /// Paths that go through such keys.
  private static let through: [String] = marked.flatMap { key -> [String] in
    ["a/" + key, key + "/a"]
  }

  private static let deep: [String] = [33, 34, 64, 200, 256, 257, 300].map {
    (count: Int) -> String in
    Array(repeating: "d", count: count).joined(separator: "/")
  }

  private static let wide: [String] = [5, 6, 10].map { (count: Int) -> String in
    Array(repeating: String(repeating: "p", count: 767), count: count).joined(separator: "/")
  }

  private static let odd = [
    ".info/connected", ".info/serverTimeOffset", ".info/a/b", "a/.info", "a/.priority/b",
    ".priority/a", "a/.value", "a/.sv", "../a", "a/../b", "a/./b", "./a", "a/..", "a/...",
    "a.json", "a/b.json/c", "..json",
  ]

  /// Paths that lead nowhere: through such keys, too deep, too long, or to what only a client
  /// knows.
  static let paths: [String] = keys + through + deep + wide + odd

  /// Escapes that are none.
  private static let escapes: [String] = [
    "%", "%2", "%zz", "%G0", "%0g", "%-1", "%+1", "%%", "%u0041", "%%32%66",
  ].flatMap { escape -> [String] in
    ["/" + escape + ".json", "/a/" + escape + "/b.json", "/a" + escape + ".json"]
  }

  /// Escaped bytes that are no text.
  private static let noTexts: [String] = [
    "C0%AF", "C0%80", "C1%BF", "E0%80%AF", "ED%A0%80", "ED%B0%80", "F0%80%80%AF", "F4%90%80%80",
    "F8%88%80%80%80", "FF", "FE", "80", "BF", "C2", "E2%82", "F0%9F%98",
  ].flatMap { bytes -> [String] in
    ["/%" + bytes + ".json", "/a%" + bytes + "b.json", "/a/%" + bytes + "/b.json"]
  }

  /// Addresses that are no path of data.
  static let addresses: [String] =
    escapes + noTexts + [
      "/a", "/", "//", "/a.jsonx", "/a.JSON", "/a.json/", "/a.json/b", "/.json/x",
      "/.settings.json",
      "/.settings/x.json", "/.inspect/x.json", "/%2e%2e/a.json", "/a/%2e%2e/b.json",
      "/%2einfo.json", "/%2einfo/connected.json", "/a%00.json", "/%00.json",
      "/a%0d%0aX-Y:%20z.json", "/a%2523.json%00",
    ]
}
