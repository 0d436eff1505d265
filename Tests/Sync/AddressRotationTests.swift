import Testing

@testable import TernSync

@Suite("Several addresses") struct AddressRotationTests {
  @Test("a round visits every address once, and the next one begins where it began")
  func rounds() {
    var rotation = AddressRotation(count: 3)
    var visited = [rotation.current]
    while rotation.moveOn() { visited.append(rotation.current) }
    #expect(visited == [0, 1, 2] && rotation.current == 0)
    #expect(rotation.moveOn() && rotation.current == 1)
    // One that works begins a round of its own.
    rotation.beginRound()
    visited = [rotation.current]
    while rotation.moveOn() { visited.append(rotation.current) }
    #expect(visited == [1, 2, 0])
  }

  @Test("a single address is a round by itself")
  func single() {
    var rotation = AddressRotation(count: 1)
    #expect(!rotation.moveOn() && !rotation.moveOn() && rotation.current == 0)
  }

  /// A connection to three addresses that was used, with an attempt at the first one.
  private func started() -> Connection {
    var connection = Connection(addressCount: 3)
    let actions = connection.handle(.resume(.unused)) { 0.5 }
    #expect(actions.first == .openLink(1, address: 0))
    return connection
  }

  /// The same with a session at the first address, which is good or still on probation.
  private func online(isGood: Bool) -> Connection {
    var connection = started()
    _ = connection.handle(.linkOpened(1)) { 0.5 }
    _ = connection.handle(.greeted(1)) { 0.5 }
    if isGood { _ = connection.handle(.timerFired(.probation)) { 0.5 } }
    return connection
  }

  @Test("attempts that fail go through all addresses without a pause, then pauses grow")
  func noPauseWithinARound() {
    var connection = started()
    var pauses: [Duration] = []
    var addresses = [0]
    for link in 1...9 {
      var actions = connection.handle(.linkClosed(link), unit: { 1 })
      for case .startTimer(.retry, let pause) in actions {
        pauses.append(pause)
        actions = connection.handle(.timerFired(.retry)) { 1 }
      }
      for case .openLink(link + 1, let address) in actions { addresses.append(address) }
    }
    #expect(addresses == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
    #expect(pauses == [.seconds(1), .milliseconds(1_300), .milliseconds(1_690)])
  }

  @Test("a session that was not confirmed is sought at the next address")
  func notConfirmed() {
    for event: Connection.Event in [
      .linkClosed(1), .linkClosed(1, byServer: true), .failed, .redirected,
      .timerFired(.handshake),
    ] {
      var connection = started()
      _ = connection.handle(.linkOpened(1)) { 0.5 }
      let actions = connection.handle(event) { 0.5 }
      #expect(actions.contains(.openLink(2, address: 1)), "\(event)")
    }
  }

  @Test("a short session is followed by the next address, a good one that broke by its own")
  func lost() {
    var short = online(isGood: false)
    #expect(short.handle(.linkClosed(1)) { 0.5 }.contains(.openLink(2, address: 1)))

    var good = online(isGood: true)
    #expect(good.handle(.linkClosed(1)) { 0.5 }.contains(.openLink(2, address: 0)))
    // Its server is gone after all: the others come at once.
    #expect(good.handle(.linkClosed(2)) { 0.5 }.contains(.openLink(3, address: 1)))
    #expect(good.handle(.linkClosed(3)) { 0.5 }.contains(.openLink(4, address: 2)))
    #expect(good.handle(.linkClosed(4)) { 1 }.contains(.startTimer(.retry, .seconds(1))))
  }

  @Test("a server that ends its links, breaks the protocol or is silent is left for the next one")
  func left() {
    for event: Connection.Event in [.linkClosed(1, byServer: true), .failed] {
      var connection = online(isGood: true)
      let actions = connection.handle(event) { 0.5 }
      #expect(actions.contains(.goOffline) && actions.contains(.openLink(2, address: 1)))
    }
    var silent = online(isGood: true)
    for _ in 0..<3 { _ = silent.handle(.timerFired(.heartbeat)) { 0.5 } }
    let actions = silent.handle(.timerFired(.heartbeat)) { 0.5 }
    #expect(actions.first == .closeLink(1) && actions.contains(.openLink(2, address: 1)))
  }

  @Test("one that asks for another session, or was offline, comes to the same address")
  func stays() {
    var moved = started()
    _ = moved.handle(.linkClosed(1)) { 0.5 }
    _ = moved.handle(.linkOpened(2)) { 0.5 }
    _ = moved.handle(.greeted(2)) { 0.5 }
    let again = moved.handle(.redirected) { 0.5 }
    #expect(again.contains(.openLink(3, address: 1)))
    _ = moved.handle(.interrupt(.requested)) { 0.5 }
    let back = moved.handle(.resume(.requested)) { 0.5 }
    #expect(back.contains(.openLink(4, address: 1)))
    // The round began anew: two more addresses come without a pause.
    #expect(moved.handle(.linkClosed(4)) { 0.5 }.contains(.openLink(5, address: 2)))
    #expect(moved.handle(.linkClosed(5)) { 0.5 }.contains(.openLink(6, address: 0)))
    #expect(!moved.handle(.linkClosed(6)) { 0.5 }.contains(.openLink(7, address: 1)))
  }
}
