/// Names of resources as hostile clients spell them: as they stand in an address.
enum HostileNames {
  private static let root = "projects/p/databases/(default)/documents"

  /// Segments that break a rule of names, or look as if they did.
  private static let segments = [
    ".", "..", "%2E", "%2e%2e", "__x__", "__", "____", "__id7__", "__id-9223372036854775808__",
    "__name__", "%00", "a%00b", "%01", "%7F", "%C2%80", "%EF%BF%BE", "%EF%BF%BF", "%EF%BB%BF",
    "%E2%80%AE", "%F0%9F%98%80", "%C3%BC", "u%CC%88", "%20", "%20a%20", "+", "a+b", "a%2Bb", "%25",
    "%2525", "%252F", "%2F", "%2f%2f", "a%2Fb", "a%2Fb%2Fc", "..%2F..", "%2E%2E%2Fetc%2Fpasswd",
    "%5C", "a%5Cb", ":", ":commit", "%3Acommit", "a:b", "a:b:c", "*", "**", "{x}", "{x=**}", "$x",
    "[x]", "(x)", "<x>", "'", "%22", "`", "a;b", "a,b", "a=b", "a&b", "~", "!", "@", "|", "^",
    "%0A", "%0D%0A", "%0D%0AX-Injected:%201", "%09", "null", "true", "0", "-1", "1e400", "NaN",
    "documents", "databases", "projects", "a.json", ".json", ".settings", "%23", "%3F", "a%3Fb=c",
    "%26", "%3D", String(repeating: "x", count: 1_500), String(repeating: "x", count: 1_501),
    String(repeating: "%C3%BC", count: 751), String(repeating: "x", count: 7_000),
    String(repeating: "a%2F", count: 150) + "a", String(repeating: ".", count: 100),
    String(repeating: "%F0%9F%98%80", count: 400),
  ]

  /// Addresses that are none.
  private static let broken = [
    "%", "%2", "%zz", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%F8%88%80%80%80", "%C0%80", "%E0%80%AF",
  ]

  /// Targets of requests: each hostile segment in each place where a name has one.
  static let targets: [String] = {
    var targets: [String] = []
    for segment in segments + broken {
      targets += [
        "/v1/\(root)/\(segment)/d", "/v1/\(root)/c/\(segment)", "/v1/\(root)/\(segment)",
        "/v1/\(root)/c/d/\(segment)/e", "/v1/projects/\(segment)/databases/(default)/documents/c/d",
        "/v1/projects/p/databases/\(segment)/documents/c/d",
      ]
    }
    return targets
  }()

  /// Names as they stand in bodies, where nothing is decoded.
  static let names: [String] = segments.flatMap { segment in
    ["\(root)/c/\(segment)", "\(root)/\(segment)/d", segment, "projects/\(segment)"]
  }
}
