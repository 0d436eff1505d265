import Foundation
import TernFirebaseCompat
import Testing

@Suite struct FirestoreTransactionTests {
  @Test("transactions of many clients add up, in both forms", arguments: Setting.storages)
  func addUp(setting: Setting) async throws {
    let house = try await House(setting)
    let seed = try house.firestore("seed")
    try await seed.document("cities/SF").setData(["population": 860_000])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<3 {
        let db = try house.firestore("client\(client)")
        group.addTask {
          let sfReference = db.collection("cities").document("SF")
          let options = TransactionOptions()
          options.maxAttempts = 20
          for _ in 0..<2 {
            _ = try await db.runTransaction(
              with: options,
              block: { (transaction, errorPointer) -> Any? in
                let sfDocument: DocumentSnapshot
                do {
                  try sfDocument = transaction.getDocument(sfReference)
                } catch let fetchError as NSError {
                  errorPointer?.pointee = fetchError
                  return nil
                }

                guard let oldPopulation = sfDocument.data()?["population"] as? Int else {
                  let error = NSError(domain: "AppErrorDomain", code: -1)
                  errorPointer?.pointee = error
                  return nil
                }

                transaction.updateData(
                  ["population": oldPopulation + 1], forDocument: sfReference)
                return nil
              })
          }
        }
      }
      try await group.waitForAll()
    }
    let end = try await seed.document("cities/SF").getDocument(source: .server)
    #expect(end.data()?["population"] as? Int == 860_006)
    try await house.close()
  }

  @Test("a transaction answers, gives up and is refused by name", arguments: Setting.storages)
  func outcomes(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let doc = db.document("t/1")
    let heard = Trace()
    db.runTransaction(
      { transaction, _ -> Any? in
        transaction.setData(["n": 1], forDocument: doc)
        return "made"
      }, completion: { object, error in heard.add("\(object ?? "nothing") \(error == nil)") })
    #expect(try await heard.wait(for: 1) == ["made true"])
    let given = NSError(domain: "mine", code: 7)
    do {
      _ = try await db.runTransaction { transaction, errorPointer in
        transaction.deleteDocument(doc)
        errorPointer?.pointee = given
        return nil
      }
      Issue.record("it gave up")
    } catch let error as NSError {
      #expect(error.domain == "mine" && error.code == 7)
    }
    #expect(try await doc.getDocument(source: .server).exists)
    for body: @Sendable (Transaction) throws -> Void in [
      { $0.setData(["a": [[1]]], forDocument: doc) },
      {
        $0.setData(["n": 2], forDocument: doc)
        _ = try $0.getDocument(doc)
      },
      {
        let missing = db.document("t/none")
        _ = try $0.getDocument(missing)
        $0.updateData(["n": 1], forDocument: missing)
      },
    ] {
      do {
        _ = try await db.runTransaction { transaction, errorPointer in
          do { try body(transaction) } catch let error as NSError { errorPointer?.pointee = error }
          return nil
        }
        Issue.record("it breaks a rule")
      } catch FirestoreErrorCode.invalidArgument {
        continue
      }
    }
    #expect(try await doc.getDocument(source: .server).data() as? [String: Int] == ["n": 1])
    try await house.close()
  }
}
