// The names of Firebase's module of this name, so that its import line need not change.

@_exported public import FirebaseCore

@_exported public import enum TernFirebaseCompat.DataEventType
@_exported public import class TernFirebaseCompat.DataSnapshot
@_exported public import class TernFirebaseCompat.Database
@_exported public import enum TernFirebaseCompat.DatabaseError
@_exported public import let TernFirebaseCompat.DatabaseErrorDomain
@_exported public import class TernFirebaseCompat.DatabaseQuery
@_exported public import class TernFirebaseCompat.DatabaseReference
public import struct TernFirebaseCompat.DatabaseServerTimestamp
@_exported public import struct TernFirebaseCompat.DatabaseSettings
@_exported public import enum TernFirebaseCompat.DatabaseValueError
@_exported public import class TernFirebaseCompat.FirebaseDataDecoder
@_exported public import class TernFirebaseCompat.FirebaseDataEncoder
@_exported public import class TernFirebaseCompat.MutableData
@_exported public import enum TernFirebaseCompat.ServerValue
@_exported public import struct TernFirebaseCompat.TransactionResult

/// The time of the commit, where the value is `nil` when it is written: milliseconds since 1970.
///
/// A file that imports `FirebaseFirestore` too writes `FirebaseDatabase.ServerTimestamp`, as with
/// Firebase.
public typealias ServerTimestamp = DatabaseServerTimestamp

/// The name of one registration of an observer.
public typealias DatabaseHandle = UInt
