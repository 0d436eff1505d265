#if TCP && canImport(Glibc)
  import Synchronization
  import TernSecurity
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("WebChannel, the access log", .timeLimit(.minutes(10)))
  struct WebChannelAccessTests {
    @Test(
      "each request of a session is told, and nothing behind its path", arguments: [true, false])
    func requests(isLongPoll: Bool) async throws {
      try await withGateway(documents: AllowAll()) { gateway in
        let records = Mutex<[AccessRecord]>([])
        gateway.server.surroundings.accessLog = { record in records.withLock { $0.append(record) } }
        let peer = try ChannelPeer(
          port: gateway.port, [ChannelPeer.add(2)], query: "&key=secret", isLongPoll: isLongPoll)
        _ = try peer.hear(through: "CURRENT")
        peer.say(ChannelPeer.remove(2))
        peer.leave()
        let told = records.withLock { $0 }
        // A session over long polls asks for every part of what it is told.
        let backs = told.count { $0.method == "GET" }
        #expect(isLongPoll ? backs >= 1 : backs == 1)
        #expect(told.map(\.method).filter { $0 != "GET" } == ["POST", "POST", "POST"])
        #expect(told.first?.method == "POST" && told.last?.method == "POST")
        #expect(told.allSatisfy { $0.path == "/google.firestore.v1.Firestore/Listen/channel" })
        #expect(told.allSatisfy { $0.status == 200 && $0.address == "127.0.0.1" })
        #expect(told.first.map { $0.bytes > 0 } == true)
      }
    }

    @Test("a request that belongs to no session is told with its status")
    func unknown() async throws {
      try await withGateway(documents: AllowAll()) { gateway in
        let records = Mutex<[AccessRecord]>([])
        gateway.server.surroundings.accessLog = { record in records.withLock { $0.append(record) } }
        let path = "/google.firestore.v1.Firestore/Listen/channel"
        let answer = try gateway.exchange(
          "GET \(path)?VER=8&SID=none&RID=rpc&AID=0&CI=0&TYPE=xmlhttp HTTP/1.1\r\n"
            + "Host: localhost\r\nConnection: close\r\n\r\n")
        let word = try #require(answer.split(separator: " ").dropFirst().first)
        let status = try #require(Int(word))
        #expect((400..<500).contains(status))
        let told = records.withLock { $0 }
        #expect(told.map(\.status) == [status] && told.map(\.path) == [path])
      }
    }
  }
#endif
