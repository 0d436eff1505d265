// A program that moves from Firebase's names to the native ones file by file imports both.
import FirebaseAuth
import FirebaseDatabase
import FirebaseFirestore
import TernClient
import TernCore
import TernFirebaseCompat
import TernQuery
import TernStandard
import TernSync
import Testing

@Suite struct BothImportsTests {
  @Test("Firebase's names and the native ones are distinguished in one file")
  func bothNames() throws {
    let firebase: [Any.Type] = [
      DocumentReference.self, DocumentSnapshot.self, QuerySnapshot.self, SnapshotMetadata.self,
      TransactionResult.self, DocumentChange.self, ServerValue.self, Query.self, Database.self,
    ]
    let native: [Any.Type] = [
      DocumentLocation.self, SingleDocumentSnapshot.self, DocumentQuerySnapshot.self,
      DocumentSnapshotMetadata.self, TreeTransactionResult.self, DocumentViewChange.self,
      TreeServerValue.self, DocumentQuery.self, TreeDatabase.self,
    ]
    for (left, right) in zip(firebase, native) {
      #expect(ObjectIdentifier(left) != ObjectIdentifier(right))
    }
    #expect(ServerValue.timestamp()[".sv"] as? String == "timestamp")
    #expect(TreeServerValue.timestamp == .timestamp)
  }

  @Test("Foundation comes with each of Firebase's modules")
  func foundation() {
    #expect(URL(string: "http://localhost")?.host == "localhost")
    #expect(NSError(domain: "x", code: 1).code == 1)
  }
}
