import TernKit
import TernServerKit

/// A server and two devices in one process, without a file or a port.
enum CitiesDemo {
  /// Plays it once; ends when both devices show the same, and the phone has made itself an index.
  static func play() async throws {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(from: .inMemory)
    let phone = try await assembler.client(from: .inMemory)
    let tablet = try await assembler.client(from: .inMemory)
    let onPhone = Cities(phone.documents)
    let onTablet = Cities(tablet.documents)

    print("the tablet writes two cities down")
    try await onTablet.add([
      City(name: "Oslo", country: "NO", population: 700_000),
      City(name: "Bergen", country: "NO", population: 290_000),
    ]).acknowledged()
    try await show(onPhone, until: ["from the server", "Oslo 700000", "Bergen 290000"])

    print("the phone goes offline; 5 people move to Oslo there, 9 on the tablet")
    await phone.goOffline()
    let move = try await onPhone.grow("Oslo", by: 5)
    try await onTablet.grow("Oslo", by: 9).acknowledged()
    try await show(onPhone, until: ["from the cache", "Oslo 700005 *", "Bergen 290000"])

    print("the phone is back")
    await phone.goOnline()
    try await move.acknowledged()
    let end = ["from the server", "Oslo 700014", "Bergen 290000"]
    try await show(onPhone, until: end)
    try await show(onTablet, until: end)

    try await makeIndex(on: phone)
    await phone.close()
    await tablet.close()
    await server.stop()
  }

  /// Asks for few of many documents, until the device makes an index for that.
  private static func makeIndex(on device: TernDatabase) async throws {
    print("300 towns come to the phone, which looks at all of them to find the largest three")
    let cities = Cities(device.documents)
    try await cities.add(
      (1...300).map {
        City(name: "Town \($0)", country: $0 % 20 == 0 ? "SE" : "FI", population: $0)
      }
    ).acknowledged()
    await device.documents.indexes.createAutomatically(true)
    let largest = cities.largest(3, in: "SE")
    print("  \(try await largest.explain())")

    print("from then on there is an index, as soon as every town is in it")
    while await device.documents.indexes.backfill() > 0 {}
    print("  \(try await largest.explain())")
    for town in try await largest.get().documents { print("  \(town.id)") }
  }

  /// Prints the cities once they are as expected.
  private static func show(_ cities: Cities, until expected: [String]) async throws {
    for try await lines in cities.board(10, in: "NO") where lines == expected {
      for line in lines { print("  \(line)") }
      return
    }
  }
}
