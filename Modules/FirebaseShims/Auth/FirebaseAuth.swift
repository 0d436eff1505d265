// The names of Firebase's module of this name, so that its import line need not change.

@_exported public import FirebaseCore

@_exported public import class TernFirebaseCompat.Auth
@_exported public import struct TernFirebaseCompat.AuthDataResult
@_exported public import enum TernFirebaseCompat.AuthErrorCode
@_exported public import class TernFirebaseCompat.User

/// The name of a listener of ``TernFirebaseCompat/Auth``.
public typealias AuthStateDidChangeListenerHandle = any NSObjectProtocol

/// The name of a listener of ``TernFirebaseCompat/Auth`` that hears of tokens.
public typealias IDTokenDidChangeListenerHandle = any NSObjectProtocol
