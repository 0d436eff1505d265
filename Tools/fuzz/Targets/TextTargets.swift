import TernCore
import TernQuery
import TernSecurity
import TernTreeWire

extension FuzzTarget {
  /// JSON, as any value and as a node of the tree.
  static let json = FuzzTarget(
    "json",
    texts: [
      #"{"a":[1,2.5,-0.0,true,null,"x\u00e9\ud83d\ude00"],"b":{"c":{".value":1,".priority":"p"}}}"#,
      #"[[],{},"",0,-1e-7,1.7976931348623157e308,9223372036854775807,-9223372036854775808]"#,
      #"{".sv":"timestamp"}"#, #"{"n":{".sv":{"increment":2.5}},"0":"a","1":"b"}"#,
      #"  "é€😀\n\t\\\"\/"  "#,
    ],
    words: [
      "{", "}", "[", "]", ",", ":", "\"", "\\u", "\\ud800", "1e999", "-", ".value", ".priority",
      ".sv",
      "null", "true", "\u{0}", "\u{FEFF}",
    ]
  ) { input in
    if let value = try? JSONValue(parsing: input) {
      guard let again = try? JSONValue(parsing: value.bytes), again.bytes == value.bytes else {
        return "what was read is written as \(String(decoding: value.bytes, as: UTF8.self))"
      }
    }
    if let node = try? TreeNode(json: input) {
      let text = node.jsonBytes(.export)
      guard let again = try? TreeNode(json: text), again == node else {
        return "a node is written as \(String(decoding: text, as: UTF8.self))"
      }
      _ = node.hash
      _ = node.jsonBytes(.value)
    }
    return nil
  }

  /// Messages of the tree's dialect, of both sides.
  static let messages = FuzzTarget(
    "messages",
    texts: [
      #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/fleet","q":{"i":"eta","ep":900,"l":2,"vf":"l"},"t":1,"h":""}}}"#,
      #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/a/.priority","d":{"x":[1,2]},"h":"abc","w":3,"wa":2}}}"#,
      #"{"t":"d","d":{"r":11,"a":"m","b":{"p":"/","d":{"a/b":830,"c":{"at":{".sv":"timestamp"}}}}}}"#,
      #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"x.y.z","authvar":{"uid":"ann"},"noauth":true}}}"#,
      #"{"t":"d","d":{"r":9,"a":"q","b":{"p":"/s","h":"x","ch":{"hs":["a","b"],"ps":["/k"]}}}}"#,
      #"{"t":"c","d":{"t":"h","d":{"ts":1760000000123,"v":"5","h":"host","s":"kQ2"}}}"#,
      #"{"t":"d","d":{"a":"rm","b":{"p":"f","d":[{"s":"3/eta","e":"8","m":{"8":{"eta":1}}}],"t":1,"v":7}}}"#,
      #"{"t":"d","d":{"r":4,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#, "0",
    ],
    words: [
      #""r":"#, #""a":"#, #""b":"#, #""p":"#, #""d":"#, #""q":"#, "-1", "1e18", "null", "[]", "{}",
      "/",
    ]
  ) { input in
    if let message = try? TreeClientMessage.decode(input) {
      guard let again = try? TreeClientMessage.decode(message.encode()),
        again.encode() == message.encode()
      else {
        return "a client's message is written as "
          + String(decoding: message.encode(), as: UTF8.self)
      }
    }
    if let message = try? TreeServerMessage.decode(input) {
      guard let again = try? TreeServerMessage.decode(message.encode()),
        again.encode() == message.encode()
      else {
        return "a server's message is written as "
          + String(decoding: message.encode(), as: UTF8.self)
      }
    }
    return nil
  }

  /// Files of rules, and what they say about a small tree.
  static let rules = FuzzTarget(
    "rules",
    texts: [
      #"{"rules": {".read": "auth != null && auth.uid == $u", "$u": {".write": "newData.val() > 1"}}}"#,
      #"""
      {// comment
      "rules": {"a": {".validate": "newData.hasChildren(['x', 'y']) && newData.child('x').isString()",
      ".indexOn": ["x", ".value"], "$k": {".write": "$k.matches(/^[a-z]{2,5}(x|y)+$/i) ? true : now > 5"}}}}
      """#,
      #"{"rules": {".read": "query.orderByChild == 'x' && query.limitToFirst <= 10", "b": {".write": true}}}"#,
      #"{"rules": {".write": "root.child('a/b').val() + 1 === data.parent().child('c').val() % 3 || !data.exists()"}}"#,
      #"""
      {"rules": {".read": "now < 1905589200000",  // 2030-5-20
      ".write": "// who\n auth /* any */ != null && 6 / 2 == 3", ".indexOn": ["a", "b",],},}
      """#,
      #"{"rules": {".validate": "'a//b'.matches( /* p */ /[/*]\\/\\// // end\n ) == true",}}"#,
      #"{"rules": {".read": "(auth.token['email'] + '').toLowerCase().replace('a', 'b').length > 3 / -0"}}"#,
    ],
    words: [
      "(", ")", "&&", "||", "!", "?", ":", "===", "'", "/", "[", "]", ".val()", "newData", "data",
      "root", "auth", "now", "$u", ".matches(/(a*)*b/)", ".read", ".write", ".validate", "/*", "*/",
      "//", "\\", "-", ",", ",}", ",]", "// x\\n", "/* x */", " == true",
    ]
  ) { input in
    let rules: TreeRules
    do throws(RulesFileError) { rules = try TreeRules(input) } catch {
      return error.problems.isEmpty || error.description.isEmpty ? "refused for nothing" : nil
    }
    return judge(by: rules)
  }

  private static func judge(by rules: TreeRules) -> String? {
    let authorizer = RulesAuthorizer(rules)
    let claims = JSONValue.object([.init("email", .string("ann@example.com"))])
    let tree = (try? TreeNode(json: #"{"a":{"x":"text","b":4},"c":[1,2,3]}"#)) ?? .empty
    let written = (try? TreeNode(json: #"{"x":"y","n":2}"#)) ?? .empty
    let places = ["", "a", "a/x", "ab", "c/0"].compactMap { try? TreePath($0) }
    for identity in [Identity.anonymous, .user(id: "ann", claims: claims)] {
      let requester = Requester(identity, isLocal: true, namespace: "n")
      for path in places {
        let reads = (0..<2).map { _ in
          authorizer.mayRead(path, .all, by: requester, now: 7) { tree.node(at: $0) }
        }
        let writes = (0..<2).map { _ in
          authorizer.mayWrite(
            [TreeMerge.Entry(path: path, node: written)], by: requester, now: 7
          ) { tree.node(at: $0) }
        }
        if reads[0] != reads[1] || writes[0] != writes[1] { return "two verdicts about /\(path)" }
      }
    }
    return nil
  }
}
