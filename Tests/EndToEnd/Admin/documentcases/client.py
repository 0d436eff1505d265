"""The clients of Firestore that the cases speak with, and what most cases need."""

import os
import queue
import sys

os.environ["FIRESTORE_EMULATOR_HOST"] = sys.argv[1]
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import firebase_admin  # noqa: E402
import grpc  # noqa: E402
from firebase_admin import credentials  # noqa: E402
from firebase_admin import firestore as admin_firestore  # noqa: E402
from google.auth.credentials import AnonymousCredentials  # noqa: E402
from google.cloud import firestore  # noqa: E402
from google.cloud.firestore_v1.base_query import FieldFilter  # noqa: E402
from google.cloud.firestore_v1.services.firestore import FirestoreClient  # noqa: E402
from google.cloud.firestore_v1.services.firestore.transports import (  # noqa: E402
    FirestoreGrpcTransport,
)

import playing  # noqa: E402
from playing import PATIENCE  # noqa: E402

PROJECT = "cases"
client = firestore.Client(project=PROJECT)


class NoCredentials(credentials.Base):
    """What the Admin SDK wants to have, also where an emulator needs none."""

    def get_credential(self):
        return AnonymousCredentials()


admin = admin_firestore.client(
    firebase_admin.initialize_app(NoCredentials(), options={"projectId": PROJECT})
)


def collection(name="c", of=None):
    """A collection of its own for the case that runs."""
    return (of or client).collection("cases").document(playing.current).collection(name)


def doc(name="a", of=None):
    return collection(of=of).document(name)


def ids(results):
    return [snapshot.id for snapshot in results]


def fill(count=6, name="c"):
    """Documents d0, d1, ... with a number, its parity, and a list."""
    batch = client.batch()
    for index in range(count):
        batch.set(
            collection(name).document(f"d{index}"),
            {"n": index, "odd": index % 2 == 1, "list": [index, index + 1]},
        )
    batch.commit()
    return collection(name)


def where(*parts):
    return FieldFilter(*parts)


def stub():
    """The generated client, without what the client library adds."""
    channel = grpc.insecure_channel(sys.argv[1])
    return FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))


class Watching:
    """Collects the snapshots of a listener."""

    def __init__(self, target):
        self.events = queue.Queue()
        self.registration = target.on_snapshot(
            lambda documents, changes, _: self.events.put(
                (
                    sorted((d.id, d.to_dict()) for d in documents),
                    [(c.type.name, c.document.id) for c in changes],
                )
            )
        )

    def until(self, holds):
        """Reads on until a snapshot's documents are as wanted."""
        while True:
            documents, changes = self.events.get(timeout=PATIENCE)
            if holds(documents):
                return documents, changes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.registration.unsubscribe()
