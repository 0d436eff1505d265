// The names of Firebase's module of this name, so that its import line need not change.

@_exported public import FirebaseCore

@_exported public import class TernFirebaseCompat.AggregateField
@_exported public import class TernFirebaseCompat.AggregateQuery
@_exported public import class TernFirebaseCompat.AggregateQuerySnapshot
@_exported public import enum TernFirebaseCompat.AggregateSource
@_exported public import class TernFirebaseCompat.CollectionReference
@_exported public import enum TernFirebaseCompat.DecodingFailureStrategy
@_exported public import class TernFirebaseCompat.DocumentChange
@_exported public import enum TernFirebaseCompat.DocumentChangeType
@_exported public import struct TernFirebaseCompat.DocumentID
@_exported public import protocol TernFirebaseCompat.DocumentIDWrappable
@_exported public import class TernFirebaseCompat.DocumentReference
@_exported public import class TernFirebaseCompat.DocumentSnapshot
@_exported public import struct TernFirebaseCompat.DocumentSnapshotsSequence
@_exported public import struct TernFirebaseCompat.ExplicitNull
@_exported public import class TernFirebaseCompat.FieldPath
@_exported public import class TernFirebaseCompat.FieldValue
@_exported public import class TernFirebaseCompat.Filter
@_exported public import class TernFirebaseCompat.FirebaseDataDecoder
@_exported public import class TernFirebaseCompat.FirebaseDataEncoder
@_exported public import class TernFirebaseCompat.Firestore
@_exported public import enum TernFirebaseCompat.FirestoreArgumentError
@_exported public import let TernFirebaseCompat.FirestoreCacheSizeUnlimited
@_exported public import enum TernFirebaseCompat.FirestoreDecodingError
@_exported public import enum TernFirebaseCompat.FirestoreEncodingError
@_exported public import struct TernFirebaseCompat.FirestoreErrorCode
@_exported public import let TernFirebaseCompat.FirestoreErrorDomain
@_exported public import class TernFirebaseCompat.FirestoreSettings
@_exported public import enum TernFirebaseCompat.FirestoreSettingsError
@_exported public import enum TernFirebaseCompat.FirestoreSource
@_exported public import struct TernFirebaseCompat.GeoPoint
@_exported public import enum TernFirebaseCompat.ListenSource
@_exported public import protocol TernFirebaseCompat.ListenerRegistration
@_exported public import class TernFirebaseCompat.LoadBundleTask
@_exported public import struct TernFirebaseCompat.LoadBundleTaskProgress
@_exported public import enum TernFirebaseCompat.LoadBundleTaskState
@_exported public import protocol TernFirebaseCompat.LocalCacheSettings
@_exported public import class TernFirebaseCompat.MemoryCacheSettings
@_exported public import class TernFirebaseCompat.MemoryEagerGCSetting
@_exported public import protocol TernFirebaseCompat.MemoryGarbageCollectorSettings
@_exported public import class TernFirebaseCompat.MemoryLRUGCSettings
@_exported public import class TernFirebaseCompat.PersistentCacheIndexManager
@_exported public import class TernFirebaseCompat.PersistentCacheSettings
@_exported public import class TernFirebaseCompat.Query
@_exported public import class TernFirebaseCompat.QueryDocumentSnapshot
@_exported public import enum TernFirebaseCompat.QueryPredicate
@_exported public import class TernFirebaseCompat.QuerySnapshot
@_exported public import struct TernFirebaseCompat.QuerySnapshotsSequence
@_exported public import struct TernFirebaseCompat.ServerTimestamp
@_exported public import enum TernFirebaseCompat.ServerTimestampBehavior
@_exported public import protocol TernFirebaseCompat.ServerTimestampWrappable
@_exported public import struct TernFirebaseCompat.SnapshotListenOptions
@_exported public import struct TernFirebaseCompat.SnapshotMetadata
@_exported public import class TernFirebaseCompat.Transaction
@_exported public import class TernFirebaseCompat.TransactionOptions
@_exported public import struct TernFirebaseCompat.VectorValue
@_exported public import class TernFirebaseCompat.WriteBatch

#if !canImport(ObjectiveC)
  @_exported public import class TernFirebaseCompat.NSErrorPlace
#endif
#if canImport(SwiftUI)
  @_exported public import struct TernFirebaseCompat.FirestoreQuery
#endif

/// The name of an observer of a ``TernFirebaseCompat/LoadBundleTask``.
public typealias LoadBundleObserverHandle = Int

#if !canImport(ObjectiveC)
  /// The place of the error of an update function, where Foundation has no pointer for it.
  public typealias NSErrorPointer = NSErrorPlace?
#endif
