"""Who lies where in a harbour, with Google's firebase-admin against a server of Tern.

    tern serve --dev                # in another terminal
    python3 -m venv venv && venv/bin/pip install firebase-admin
    FIREBASE_DATABASE_EMULATOR_HOST=127.0.0.1:9000 venv/bin/python berths.py
"""

import os
import threading

import firebase_admin
from firebase_admin import db

# The first label of the host names the database, here "harbor"; no request goes to Google.
firebase_admin.initialize_app(options={
    "projectId": "harbor",
    "databaseURL": "https://harbor.firebaseio.com",
})

berths = db.reference("berths")
berths.set({"a1": {"ship": "Gull", "visits": 1}, "a2": {"ship": "Auk", "visits": 4}})
berths.child("a1").update({"since": {".sv": "timestamp"}})
berths.child("a1/visits").transaction(lambda visits: (visits or 0) + 1)
print("a1:", berths.child("a1").get())
print("most visits:", list(berths.order_by_child("visits").limit_to_last(1).get()))

value, etag = berths.child("a2/ship").get(etag=True)
print("with a stale tag:", berths.child("a2/ship").set_if_unchanged("stale", "Tern")[0])
print("with the right one:", berths.child("a2/ship").set_if_unchanged(etag, "Tern")[0])

heard = threading.Event()
def hear(event):
    print("heard:", event.event_type, event.path, event.data)
    if event.path == "/a3":
        heard.set()
berths.listen(hear)
berths.child("a3").set({"ship": "Skua"})
heard.wait(10)
# The package ends a listener with a traceback of its own; a script that is done just ends.
print(end="", flush=True)
os._exit(0)
