"""Cases, and how the scripts beside this file play them.

    SCRIPT HOST:PORT [CASE ...]
"""

import os
import sys
import traceback

# The seconds that a case waits for something.
PATIENCE = 60
CASES = []
# The name of the case that runs.
current = ""


def case(function):
    CASES.append(function)
    return function


def raises(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


async def raises_async(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def same(found, expected):
    if found != expected or type(found) is not type(expected):
        raise AssertionError(f"{found!r} instead of {expected!r}")


def play(perform=lambda function: function()):
    """Plays the cases that the command line names, or all, and ends the program."""
    global current
    wanted = sys.argv[2:]
    played = failed = 0
    for function in CASES:
        current = function.__name__
        if wanted and current not in wanted:
            continue
        played += 1
        try:
            perform(function)
            print("ok", current, flush=True)
        except BaseException as error:  # noqa: BLE001 - it is told, and the next case runs
            failed += 1
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            print("FAILED", current, reason, flush=True)
            traceback.print_exc()
    print(f"{played} cases, {failed} failed", flush=True)
    # Threads of the libraries may still wait for their streams.
    os._exit(1 if failed else 0)
