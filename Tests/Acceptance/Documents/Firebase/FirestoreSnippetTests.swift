import Dispatch
import Foundation
import TernFirebaseCompat
import Testing

/// The snippets as they are printed, on the default app.
@Suite(.serialized) struct FirestoreSnippetTests {
  @Test("F09 F10 F11 the printed settings; the last cache settings count")
  func settings() async throws {
    try await DefaultApp.use {
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

      #expect(db.settings.cacheSettings is PersistentCacheSettings)
      #expect(db.persistentCacheIndexManager != nil)
    }
  }

  @Test("F09 settings are read, changed and assigned back, before the first operation only")
  func readChangeAssign() async throws {
    try await DefaultApp.use {
      let settings = Firestore.firestore().settings
      // Set cache size to 100 MB
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)
      Firestore.firestore().settings = settings

      let db = Firestore.firestore()
      #expect(db.settings.cacheSettings is PersistentCacheSettings)
      db.collection("cities").document("SF").setData(["state": "CA"], completion: nil)
      db.settings = db.settings
      let late = db.settings
      late.cacheSettings = MemoryCacheSettings()
      #expect(throws: FirestoreSettingsError.settingsFrozen("cacheSettings")) {
        try db.configure(late)
      }
      late.cacheSettings = settings.cacheSettings
      late.host = "elsewhere"
      #expect(throws: FirestoreSettingsError.settingsFrozen("host")) { try db.configure(late) }
    }
  }

  @Test("the unlimited size is the number that Firebase has for it")
  func unlimited() async throws {
    try await DefaultApp.use {
      let settings = Firestore.firestore().settings
      settings.cacheSizeBytes = FirestoreCacheSizeUnlimited
      Firestore.firestore().settings = settings
      #expect(Firestore.firestore().settings.cacheSizeBytes == -1)
    }
  }

  @Test("F32 F33 the printed index manager; without a persistent cache there is none")
  func indexManager() async throws {
    let heard = Trace()
    let print: @Sendable (String) -> Void = { heard.add($0) }
    try await DefaultApp.use {
      if let indexManager = Firestore.firestore().persistentCacheIndexManager {
        // Indexing is disabled by default
        indexManager.enableIndexAutoCreation()
      } else {
        print("indexManager is nil")
      }
      #expect(heard.entries.isEmpty)
      Firestore.firestore().persistentCacheIndexManager?.disableIndexAutoCreation()
    }
    try await DefaultApp.use {
      let settings = Firestore.firestore().settings
      settings.cacheSettings = MemoryCacheSettings()
      Firestore.firestore().settings = settings
      if let indexManager = Firestore.firestore().persistentCacheIndexManager {
        // Indexing is disabled by default
        indexManager.enableIndexAutoCreation()
      } else {
        print("indexManager is nil")
      }
      #expect(heard.entries == ["indexManager is nil"])
    }
  }

  @Test("F36 the printed network switch, and its async form")
  func network() async throws {
    try await DefaultApp.use {
      let heard = Trace()
      let settings = Firestore.firestore().settings
      settings.dispatchQueue = DispatchQueue(label: "callbacks of the default app")
      Firestore.firestore().settings = settings
      now {
        Firestore.firestore().disableNetwork { (error) in
          // Do offline things
          // ...
          heard.add(error == nil ? "offline" : "error")
        }
      }
      try await heard.wait(for: "offline")
      let sf = Firestore.firestore().collection("cities").document("SF")
      now {
        sf.setData(["state": "CA"]) { error in heard.add(error == nil ? "written" : "error") }
      }
      let cached = try await sf.getDocument()
      #expect(cached.metadata.hasPendingWrites && cached.metadata.isFromCache)
      #expect(heard.entries == ["offline"])
      now {
        Firestore.firestore().enableNetwork { (error) in
          // Do online things
          // ...
          heard.add(error == nil ? "online" : "error")
        }
      }
      #expect(try await heard.wait(for: 3) == ["offline", "online", "written"])
      try await Firestore.firestore().disableNetwork()
      await #expect(throws: FirestoreErrorCode.self) {
        do {
          _ = try await sf.getDocument(source: .server)
        } catch FirestoreErrorCode.unavailable {
          throw FirestoreErrorCode(.unavailable)
        }
      }
      try await Firestore.firestore().enableNetwork()
      #expect(try await sf.getDocument(source: .server).metadata.isFromCache == false)
    }
  }
}
