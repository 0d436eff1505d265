import Foundation
import TernFirebaseCompat
import Testing

@Suite struct ListeningTests {
  @Test(
    "F22 F23 the printed listener hears what is added, with its source",
    arguments: Setting.all)
  func printed(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    let cities = writer.collection("cities")
    try await cities.document("SF").setData(["name": "San Francisco", "state": "CA"])
    try await cities.document("NY").setData(["name": "New York", "state": "NY"])
    let db = try house.firestore("a")
    let heard = Trace()
    let print: @Sendable (String) -> Void = { heard.add($0) }

    db.collection("cities").whereField("state", isEqualTo: "CA")
      .addSnapshotListener(includeMetadataChanges: true) { querySnapshot, error in
        guard let snapshot = querySnapshot else {
          print("Error retreiving snapshot: \(error!)")
          return
        }

        for diff in snapshot.documentChanges {
          if diff.type == .added {
            print("New city: \(diff.document.data())")
          }
        }

        let source = snapshot.metadata.isFromCache ? "local cache" : "server"
        print("Metadata: Data fetched from \(source)")
      }

    let lines = try await heard.wait(for: "Metadata: Data fetched from server")
    #expect(lines.count { $0.hasPrefix("New city: ") } == 1)
    #expect(lines.contains { $0.contains("San Francisco") })
    try await house.close()
  }
}
