import Testing

@testable import TernLogPostgres

/// The order of the hosts of a connection, without a database.
@Suite("hosts of a connection to PostgreSQL")
struct PostgresHostOrderTests {
  private func host(_ name: String, _ port: String = "5432", at address: String = "")
    -> PostgresHost
  {
    PostgresHost(name: name, address: address, port: port)
  }

  @Test("lists of hosts, addresses and ports are read as libpq reads them")
  func lists() {
    func list(_ names: String, _ addresses: String, _ ports: String) -> [PostgresHost] {
      PostgresHost.list(names: names, addresses: addresses, ports: ports)
    }
    #expect(list("", "", "5432").isEmpty)
    #expect(list("a", "", "") == [host("a")])
    #expect(list("a,b", "", "7") == [host("a", "7"), host("b", "7")])
    #expect(list("a,,/run", "", "7,,9") == [host("a", "7"), host(""), host("/run", "9")])
    #expect(list("a,b", "1.1.1.1,", "7") == [host("a", "7", at: "1.1.1.1"), host("b", "7")])
    #expect(list("", "1.1.1.1", "") == [host("", at: "1.1.1.1")])
  }

  @Test("an attempt begins behind the host at which the one before has failed")
  func order() {
    var hosts = PostgresHosts(addresses: { _ in [] })
    let all = [host("a"), host("b", "7"), host("b", "8")]
    #expect(hosts.order.isEmpty)
    hosts.noteFailure(at: host("a", at: "10.0.0.1"), of: all)
    #expect(hosts.order == [all[1], all[2], all[0]])
    hosts.noteFailure(at: host("b", "8"), of: hosts.order)
    #expect(hosts.order == all)
    hosts.noteFailure(at: host("b", "7"), of: hosts.order)
    #expect(hosts.order == [all[2], all[0], all[1]])
    // The connection is read again once all had their turn, and after a success.
    hosts.noteFailure(at: host("a"), of: hosts.order)
    #expect(hosts.order.isEmpty)
    hosts.noteFailure(at: host("x"), of: all)
    #expect(hosts.order.isEmpty, "a host that is not listed")
    hosts.reset()
    hosts.noteFailure(at: host("a"), of: [host("a")])
    #expect(hosts.order.isEmpty, "a single host")
  }

  @Test("each address of a name has its turn")
  func addresses() {
    var hosts = PostgresHosts(addresses: { $0 == "db" ? ["10.0.0.1", "10.0.0.2"] : [] })
    hosts.noteFailure(at: host("db", at: "10.0.0.1"), of: [host("db")])
    #expect(hosts.order == [host("db", at: "10.0.0.2"), host("db", at: "10.0.0.1")])
    hosts.noteFailure(at: host("db", at: "10.0.0.2"), of: hosts.order)
    #expect(hosts.order.first == host("db", at: "10.0.0.1"))
    // The name leads elsewhere by now: nothing is known of what it leads to.
    hosts.reset()
    hosts.noteFailure(at: host("db", at: "10.0.0.9"), of: [host("db")])
    #expect(hosts.order.isEmpty)
  }

  @Test("an order becomes settings of libpq, and a host has a share of an attempt")
  func settings() {
    #expect(PostgresHosts.settings([]).isEmpty)
    let plain = PostgresHosts.settings([host("a"), host("b", "7")])
    #expect(plain.map(\.keyword) == ["host", "port"])
    #expect(plain.map(\.value) == ["a,b", "5432,7"])
    let addressed = PostgresHosts.settings([host("a", at: "1.1.1.1"), host("/run")])
    #expect(addressed.map(\.keyword) == ["host", "hostaddr", "port"])
    #expect(addressed.map(\.value) == ["a,/run", "1.1.1.1,", "5432,5432"])
    #expect(PostgresHosts.share(of: 5_000, hosts: 0) == 5_000)
    #expect(PostgresHosts.share(of: 5_000, hosts: 2) == 2_500)
    #expect(PostgresHosts.share(of: 2_000, hosts: 9) == 1_000)
    #expect(PostgresHosts.share(of: 300, hosts: 9) == 300)
  }
}
