// The names of Firebase's module of this name, so that its import line need not change.

@_exported public import Foundation

@_exported public import class TernFirebaseCompat.FirebaseApp
@_exported public import class TernFirebaseCompat.FirebaseOptions
@_exported public import struct TernFirebaseCompat.Timestamp
