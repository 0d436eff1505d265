#if TCP && canImport(Glibc)
  import Foundation
  import Testing

  @testable import TernGateway

  /// A client over long polling, whose polls wait on a connection of their own.
  final class PollPeer {
    private let peer: Peer
    private let way: String
    private var lastSegment = -1
    /// The answer to the opening.
    let greeting: String

    init(_ gateway: GatewayUnderTest, namespace: String = "default") throws {
      peer = try gateway.connect()
      peer.send(
        "GET /.lp?start=t&ser=1&cb=1&v=5&ns=\(namespace) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      greeting = peer.body()
      let names = try #require(greeting.firstMatch(of: /"start","(\w+)","(\w+)"/)).output
      way = "/.lp?id=\(names.1)&pw=\(names.2)"
    }

    /// Sends requests of the dialect, and waits for what there is to say.
    @discardableResult
    func ask(_ requests: String...) -> String {
      var target = way
      for (index, request) in requests.enumerated() {
        lastSegment += 1
        let text = Data(request.utf8).base64EncodedString().replacing("+", with: "-")
          .replacing("/", with: "_").replacing("=", with: ".")
        target += "&seg\(index)=\(lastSegment)&ts\(index)=1&d\(index)=\(text)"
      }
      poll(target)
      return answer()
    }

    /// Sends the first of two parts of a message; answers the head of the answer.
    func sendHalf(_ text: String) -> String {
      lastSegment += 1
      poll(way + "&seg0=\(lastSegment)&ts0=2&d0=\(text)")
      return peer.answer().head
    }

    /// Ends the session, as a page does that is left.
    func leave() {
      poll(way + "&disconn=t")
      _ = answer()
    }

    /// Asks whether there is anything to say; ``answer()`` has it.
    func poll() { poll(way) }

    private func poll(_ target: String) {
      peer.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// The script that answers the poll.
    func answer() -> String { peer.body() }

    /// Polls until the server has said something that contains a text, and answers all of it.
    func hear(_ text: String) -> String {
      var heard = ""
      for _ in 0..<20 {
        poll()
        let answer = answer()
        heard += answer
        if heard.contains(text) || answer.isEmpty { break }
      }
      return heard
    }
  }

  extension Peer {
    /// The body of the next answer that tells its length.
    func body() -> String { answer().body }

    /// The head and the body of the next answer that tells its length.
    func answer() -> (head: String, body: String) {
      let head = read(through: "\r\n\r\n")
      let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
      return (head, String(decoding: read(count: length ?? 0) ?? [], as: UTF8.self))
    }
  }

  /// A request of the dialect.
  func frame(_ number: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#
  }
#endif
