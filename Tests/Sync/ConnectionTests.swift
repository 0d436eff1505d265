import Testing

@testable import TernSync

@Suite("Connection")
struct ConnectionTests {
  private func started() -> Connection {
    var connection = Connection()
    _ = connection.handle(.resume(.unused)) { 0.5 }
    return connection
  }

  private func online() -> Connection {
    var connection = started()
    _ = connection.handle(.linkOpened(1)) { 0.5 }
    _ = connection.handle(.greeted(1)) { 0.5 }
    return connection
  }

  @Test("connects when the last interruption ends")
  func connectsWhenAllowed() {
    var connection = Connection()
    #expect(connection.handle(.interrupt(.requested)) { 0 } == [])
    #expect(connection.handle(.resume(.unused)) { 0 } == [])
    #expect(
      connection.handle(.resume(.requested)) { 0 } == [
        .openLink(1), .startTimer(.handshake, .seconds(30)),
      ])
  }

  @Test("goes online with the greeting, not with the link")
  func goesOnlineWithGreeting() {
    var connection = started()
    #expect(connection.handle(.linkOpened(1)) { 0 } == [])
    #expect(connection.handle(.greeted(1)) { 0 }.contains(.goOnline))
    #expect(connection.isOnline)
  }

  @Test("the delays of repeated failures grow from one to thirty seconds")
  func delaysGrow() {
    var connection = started()
    var delays: [Duration] = []
    for link in 1...20 {
      for action in connection.handle(.linkClosed(link), unit: { 1 }) {
        if case .startTimer(.retry, let delay) = action { delays.append(delay) }
      }
      _ = connection.handle(.timerFired(.retry)) { 1 }
    }
    #expect(delays.first == .seconds(1))
    #expect(delays[1] == .milliseconds(1_300))
    #expect(delays.last == .seconds(30))
  }

  @Test("a good connection is followed by an immediate attempt, a short one by a delay")
  func probation() {
    var good = online()
    _ = good.handle(.timerFired(.probation)) { 0.5 }
    #expect(good.handle(.linkClosed(1)) { 0.5 }.contains(.openLink(2)))

    var short = online()
    let actions = short.handle(.linkClosed(1)) { 0 }
    #expect(actions.contains(.goOffline))
    #expect(actions.contains(.startTimer(.retry, .milliseconds(300))))
  }

  @Test("news of an abandoned link is ignored")
  func staleLink() {
    var connection = started()
    _ = connection.handle(.timerFired(.handshake)) { 0 }
    #expect(connection.handle(.greeted(1)) { 0 } == [])
    #expect(connection.handle(.linkClosed(1)) { 0 } == [])
  }

  @Test("going offline closes the link; coming back is immediate")
  func interruption() {
    var connection = online()
    let down = connection.handle(.interrupt(.requested)) { 0 }
    #expect(down.first == .closeLink(1) && down.last == .goOffline)
    #expect(connection.handle(.linkClosed(1)) { 0 } == [])
    #expect(connection.handle(.resume(.requested)) { 0 }.contains(.openLink(2)))
  }

  @Test("a silent server is pinged, then given up")
  func silentServer() {
    var connection = online()
    #expect(!connection.handle(.timerFired(.heartbeat)) { 0 }.contains(.sendPing))
    #expect(connection.handle(.timerFired(.heartbeat)) { 0 }.contains(.sendPing))
    #expect(connection.handle(.timerFired(.heartbeat)) { 0 }.contains(.sendPing))
    let last = connection.handle(.timerFired(.heartbeat)) { 0 }
    #expect(last.first == .closeLink(1) && last.contains(.goOffline))
  }

  @Test("a server that answers pings is kept")
  func answeringServer() {
    var connection = online()
    for _ in 0..<20 {
      let actions = connection.handle(.timerFired(.heartbeat)) { 0 }
      if actions.contains(.sendPing) { _ = connection.handle(.received(1)) { 0 } }
    }
    #expect(connection.isOnline)
  }

  @Test("a redirect reconnects without delay")
  func redirect() {
    var connection = online()
    let actions = connection.handle(.redirected) { 1 }
    #expect(actions.contains(.closeLink(1)) && actions.contains(.openLink(2)))
  }

  @Test("one that is sent on each time before it is let in waits longer and longer")
  func sentOnAndOn() {
    var connection = online()
    _ = connection.handle(.redirected) { 1 }
    var waits = 0
    for link in 2..<6 {
      let actions = connection.handle(.redirected) { 1 }
      #expect(actions.contains(.closeLink(link)))
      if !actions.contains(.openLink(link + 1)) { waits += 1 }
      _ = connection.handle(.timerFired(.retry)) { 1 }
    }
    #expect(waits >= 3)
  }
}
