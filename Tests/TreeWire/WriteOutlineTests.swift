import TernCore
import TernTestKit
import Testing

@testable import TernTreeWire

@Suite("Outlines of writes")
struct WriteOutlineTests {
  /// The paths that a request replaces, as its full reading has them; `nil` for no write.
  private func paths(_ request: TreeRequest) -> [TreePath]? {
    switch request {
    case .put(let path, _, _, let header): header.stamp == nil ? [path] : nil
    case .onDisconnectSet(let path, _): [path]
    case .merge(let path, let merge, let header):
      header.stamp == nil ? merge.entries.map { path.appending($0.path) } : nil
    case .onDisconnectMerge(let path, let merge): merge.entries.map { path.appending($0.path) }
    default: nil
    }
  }

  @Test("an outline names the paths that the write replaces", arguments: UInt64(1)...30)
  func agreement(seed: UInt64) throws {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<40 {
      let (number, request) = (messages.number(), messages.request())
      let frame = TreeClientMessage.request(number, request).encode()
      let shuffled = JSONValue.shuffled(try JSONValue(parsing: frame), &messages.random)
      for bytes in [frame, shuffled.bytes] {
        let outline = WriteOutline(bytes)
        #expect(outline?.paths.sorted() == paths(request)?.sorted(), "\(request)")
        if let outline { #expect(outline.request == number) }
      }
    }
  }

  @Test("no damage makes an outline name other paths than the reading", arguments: UInt64(1)...20)
  func damage(seed: UInt64) {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<100 {
      let frame = TreeClientMessage.request(7, messages.request()).encode()
      let damaged = messages.random.damage(frame)
      guard let outline = WriteOutline(damaged),
        case .request(let number, let request)? = try? TreeClientMessage.decode(damaged)
      else { continue }
      #expect(outline.request == number)
      #expect(
        outline.paths.sorted() == paths(request)?.sorted(),
        "\(String(decoding: damaged, as: UTF8.self))")
    }
  }

  @Test(
    "of members that come twice both take the same",
    arguments: [
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":1,"p":"b"}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":1}},"d":{"b":{"p":"c","d":2}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":1},"b":{"p":"c","d":2}}}"#,
      #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"a","d":1},"a":"p","r":2}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"a","d":{"x":1},"d":{"y":1}}}}"#,
      #"{"d":{"r":1,"a":"p","b":{"p":"a","d":1}},"t":"d"}"#,
    ])
  func duplicates(text: String) throws {
    let frame = Array(text.utf8)
    let outline = try #require(WriteOutline(frame))
    guard case .request(let number, let request) = try TreeClientMessage.decode(frame) else {
      Issue.record("\(text) is no request")
      return
    }
    #expect(outline.request == number)
    #expect(outline.paths == paths(request))
  }

  @Test(
    "frames without an outline",
    arguments: [
      "0", "{", #"{"t":"c","d":{"t":"p","d":{}}}"#, #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"a"}}}"#,
      #"{"t":"d","d":{"a":"p","b":{"p":"a","d":1}}}"#, #"{"t":"d","d":{"r":1,"a":"p"}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"d":1}}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"a"}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a.b","d":1}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"\ud800","d":1}}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"a","d":{"$":1}}}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"a","d":{"\udc00":1}}}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"a","d":[1]}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":1,"w":1}}}"#,
    ])
  func none(text: String) {
    #expect(WriteOutline(Array(text.utf8)) == nil)
  }

  @Test("an outline has 256 paths", arguments: [255, 256, 257])
  func count(count: Int) {
    let members = (0..<count).map { #""k\#($0)":null"# }.joined(separator: ",")
    let text = "{\(members)}"
    let frame = #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"x","d":\#(text)}}}"#
    let paths = WriteOutline.paths(ofUpdate: Array(text.utf8))
    #expect(paths?.count == (count <= 256 ? count : nil))
    #expect(WriteOutline(Array(frame.utf8))?.paths.count == (count <= 256 ? count : nil))
  }

  @Test(
    "updates over REST that are none",
    arguments: ["", "[]", "1", "{} x", #"{"a":}"#, #"{"a.b":1}"#])
  func updates(text: String) {
    #expect(WriteOutline.paths(ofUpdate: Array(text.utf8)) == nil)
  }
}
