#if TCP && canImport(Glibc)
  import TernCore
  import Testing

  @testable import TernGateway

  /// The conversations of browsers' Firestore clients over real sockets, written from the protocol:
  /// the clients themselves cannot run here.
  @Suite("Browsers' Firestore clients, as traces (the clients cannot run here)")
  struct BrowserTraceTests {
    /// The messages up to the boundary behind CURRENT.
    private func snapshot(_ peer: ChannelPeer) throws -> [String] {
      try peer.hear(through: "CURRENT") + peer.hear(through: "readTime")
    }

    @Test(
      "F40 a memory cache listens anew after a restart, streamed and polled",
      arguments: [false, true])
    func memory(isLongPoll: Bool) async throws {
      try await withGateway { gateway in
        let writer = try WriterPeer(port: gateway.port, isLongPoll: isLongPoll)
        #expect(try writer.set("rooms/a", "é🐧").contains(#""updateTime":"#))
        for _ in 0..<2 {
          let page = try ChannelPeer(
            port: gateway.port, [ChannelPeer.add(2)], isLongPoll: isLongPoll)
          let told = try snapshot(page)
          #expect(brief(told) == ["ADD", "change a", "CURRENT", "boundary"])
          #expect(told[1].contains(#"{"stringValue":"é🐧"}"#))
          page.leave()
        }
      }
    }

    @Test("F40 F44 a persistent cache resumes: two tabs, one writes, both are told")
    func persistent() async throws {
      try await withGateway { gateway in
        let writer = try WriterPeer(port: gateway.port)
        try writer.set("rooms/a", "1")
        let first = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2)])
        let second = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2)])
        let resume = try token(in: try snapshot(first))
        _ = try snapshot(second)
        try writer.set("rooms/b", "2")
        for tab in [first, second] {
          #expect(brief(try tab.hear(through: "readTime")) == ["change b", "boundary"])
          tab.leave()
        }
        let again = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2, token: resume)])
        let told = try snapshot(again)
        #expect(brief(told).filter { $0.hasPrefix("change") } == ["change b"], "the difference")
        let newest = try token(in: told)
        again.leave()
        let same = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2, token: newest)])
        let silent = brief(try snapshot(same)).filter { $0 != "boundary" }
        #expect(silent == ["ADD", "CURRENT"])
      }
    }

    /// The part of a client that outlives its page: nothing by default; with `enablePersistence`,
    /// the documents of its listen with their token, and the writes that were not sent.
    private struct BrowserCache {
      let isPersistent: Bool
      private var resume: String?
      private var count: Int?
      private(set) var queue: [(path: String, text: String)] = []

      init(isPersistent: Bool) { self.isPersistent = isPersistent }

      /// The first request of the next page.
      var listen: String { ChannelPeer.add(2, token: resume, count: count) }

      mutating func keep(_ count: Int, from told: [String]) throws {
        let newest = try token(in: told)
        if isPersistent { (resume, self.count) = (newest, count) }
      }

      mutating func keep(write path: String, _ text: String) {
        if isPersistent { queue.append((path, text)) }
      }
    }

    private func changes(_ told: [String]) -> [String] {
      brief(told).filter { !["ADD", "CURRENT", "boundary"].contains($0) }
    }

    @Test(
      """
      F07 a page opened again asks for all and sends nothing, as without persistence; after \
      enablePersistence it asks for the difference and sends what was queued. That the former is \
      the client's default is not seen here: the client cannot run
      """, arguments: [false, true])
    func persistence(isEnabled: Bool) async throws {
      try await withGateway { gateway in
        var cache = BrowserCache(isPersistent: isEnabled)
        let other = try WriterPeer(port: gateway.port)
        try other.set("rooms/a", "1")
        let first = try ChannelPeer(port: gateway.port, [cache.listen])
        let before = try snapshot(first)
        #expect(changes(before) == ["change a"])
        try cache.keep(1, from: before)
        // Offline, it writes; the page is closed before the network is back.
        first.leave()
        cache.keep(write: "rooms/own", "queued")
        try other.set("rooms/b", "1")

        let second = try ChannelPeer(port: gateway.port, [cache.listen])
        #expect(
          changes(try snapshot(second)) == (isEnabled ? ["change b"] : ["change a", "change b"]))
        if !cache.queue.isEmpty {
          let writer = try WriterPeer(port: gateway.port)
          for write in cache.queue {
            #expect(try writer.set(write.path, write.text).contains(#""updateTime":"#))
          }
        }
        // The next change comes behind what was queued, if anything was.
        try other.set("rooms/c", "1")
        let own = isEnabled ? ["change own"] : []
        #expect(changes(try second.hear(through: "documents/rooms/c")) == own + ["change c"])
        let all = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2)])
        #expect(changes(try snapshot(all)) == ["change a", "change b", "change c"] + own)
      }
    }

    @Test("F41 an older client sends its headers in the address")
    func legacy() async throws {
      try await withGateway { gateway in
        let headers = "Content-Type:text/plain\r\nX-Goog-Api-Client:gl-js/ fire/7.24.0\r\n"
        let page = try ChannelPeer(
          port: gateway.port, [ChannelPeer.add(2)],
          query: "&$httpHeaders=" + escapedForm(headers))
        #expect(brief(try snapshot(page)) == ["ADD", "CURRENT", "boundary"])
      }
    }

    @Test("F42 the network is disabled and enabled again: what was missed comes, once")
    func network() async throws {
      try await withGateway { gateway in
        let writer = try WriterPeer(port: gateway.port)
        try writer.set("rooms/a", "1")
        try writer.set("rooms/b", "1")
        let page = try ChannelPeer(
          port: gateway.port, [ChannelPeer.add(2), ChannelPeer.add(4, "x")])
        _ = try page.hear(through: "CURRENT") + page.hear(through: "CURRENT")
        let resume = try token(in: try page.hear(through: "readTime"))
        page.say(ChannelPeer.remove(4))
        #expect(brief(try page.hear(through: "REMOVE")).last == "REMOVE")
        page.leave()
        try writer.delete("rooms/a")
        try writer.set("rooms/c", "1")
        let back = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2, token: resume)])
        let told = brief(try snapshot(back)).filter {
          !["ADD", "boundary", "CURRENT"].contains($0)
        }
        #expect(Set(told) == ["delete a", "change c"] && told.count == 2)
        // A connection that breaks loses nothing.
        try writer.set("rooms/d", "1")
        back.cut()
        try writer.set("rooms/e", "1")
        let missed = brief(try back.hear(through: "documents/rooms/e"))
        #expect(missed.filter { $0 != "boundary" } == ["change d", "change e"])
      }
    }

    @Test("a rejected write ends its channel with the code, and the batches before it stay")
    func rejected() async throws {
      try await withGateway { gateway in
        let writer = try WriterPeer(port: gateway.port)
        try writer.set("rooms/a", "1")
        let create = ChannelPeer.set("rooms/a", "2", token: "AQ==")
          .replacing(#"}}}}]}"#, with: #"}}},"currentDocument":{"exists":false}}]}"#)
        writer.peer.say(create)
        let told = try writer.peer.hear(through: "close")
        #expect(told.first?.contains(#""status":"ALREADY_EXISTS"}"#) == true, "\(told)")
        #expect(told.last == #"["close"]"#)
      }
    }

    @Test("forms of megabytes are read, and others are served meanwhile")
    func largeForms() async throws {
      try await withGateway { gateway in
        let writer = try WriterPeer(port: gateway.port)
        let page = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2)])
        _ = try snapshot(page)
        for id in 0..<4 {
          try writer.set("rooms/\(id)", String(repeating: "日\(id)", count: 60_000))
          let told = try page.hear(through: "readTime")
          #expect(brief(told) == ["change \(id)", "boundary"])
          #expect(told.first?.utf8.count ?? 0 > 240_000)
        }
      }
    }

    @Test("a large first snapshot comes in acknowledged portions, whole and in order")
    func largeSnapshot() async throws {
      var limits = GatewayLimits()
      limits.webChannel.responseBytes = 20_000
      limits.webChannel.keptArrays = 50
      try await withGateway(limits: limits) { gateway in
        let writer = try WriterPeer(port: gateway.port)
        let text = String(repeating: "x", count: 500)
        let ids = (100..<400).map { "d\($0)" }
        for id in ids { try writer.set("rooms/\(id)", text) }
        let page = try ChannelPeer(port: gateway.port, [ChannelPeer.add(2)])
        let told = brief(try snapshot(page)).filter { $0 != "boundary" }
        #expect(told == ["ADD"] + ids.map { "change \($0)" } + ["CURRENT"])
      }
    }
  }
#endif
