// The code that Firebase's guide prints, word for word. Nothing but Firebase's modules is imported.
// swift-format-ignore-file

import FirebaseFirestore

/// The guide's printed code about offline use of documents.
public enum FirestoreSnippets {
  public static func settings() {
    let settings = FirestoreSettings()

    // Use memory-only cache
    settings.cacheSettings =
    MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings())

    // Use persistent disk cache, with 100 MB cache size
    settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)

    // Any additional options
    // ...

    // Enable offline data persistence
    let db = Firestore.firestore()
    db.settings = settings
  }

  public static func cacheSize() {
    // The default cache size threshold is 100 MB. Configure "cacheSizeBytes"
    // for a different threshold (minimum 1 MB) or set to "FirestoreCacheSizeUnlimited"
    // to disable clean-up.
    let settings = Firestore.firestore().settings
    // Set cache size to 100 MB
    settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)
    Firestore.firestore().settings = settings
  }

  public static func listen(_ db: Firestore, print: @escaping (String) -> Void) {
    // Listen to metadata updates to receive a server snapshot even if
    // the data is the same as the cached data.
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
  }

  public static func index() {
    if let indexManager = Firestore.firestore().persistentCacheIndexManager {
      // Indexing is disabled by default
      indexManager.enableIndexAutoCreation()
    } else {
      print("indexManager is nil")
    }
  }

  public static func offline(_ done: @escaping () -> Void) {
    Firestore.firestore().disableNetwork { (error) in
        // Do offline things
        // ...
        done()
    }
  }

  public static func online(_ done: @escaping () -> Void) {
    Firestore.firestore().enableNetwork { (error) in
        // Do online things
        // ...
        done()
    }
  }
}
