"""Processes that do at random whatever can be done to dead letters, while connections are killed; then all must add up.

python -m tests.support.model PORT SEED SECONDS     is one of them: it writes down what it was told, as JSON.
"""

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import redis as redis_py

from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Outcome, Refused, Unreachable
from tests.support import sources
from tests.support.eventually import pause
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, GROUPS, dead_letters
from tests.support.replay import Model
from tests.support.servers import Server, connect

WORKERS = 4
QUEUES = ["emails", "réports", "a b", ""]
SCORES = [DIED, DIED + 1, 0, -3, 9_007_199_254_740_993]
OPERATIONS = 4_000  # each is pressed again and again, always with the same arguments


def _letter(n: int) -> bytes:
    """60 deaths of 17 jobs, some of which are spelled in two ways, some without a queue; four are placeholders."""
    name = jid(n % 17)
    raw = letter(name.upper() if n % 5 == 0 else name, QUEUES[n % 4], death=n)
    return raw.replace(b'"retries":0', b'"original_job_data":""') if n % 15 == 0 else raw


LETTERS = [_letter(n) for n in range(60)]
DIGESTS = [digest(raw) for raw in LETTERS]
JIDS = [Entry(raw, 0).jid or "" for raw in LETTERS]
MAY_BE_REFUSED = {"SAME_JOB", "PLACEHOLDER", "NO_QUEUE"}


class Press:
    """One operation: what it does, and to what, is told by its number alone."""

    def __init__(self, number: int) -> None:
        dice = random.Random(number)
        some = dice.sample(range(60), dice.choice((1, 1, 2, 5, 30)))
        refs = [EntryRef(dice.choice([*SCORES, NO_TIME]), DIGESTS[n], JIDS[n]) for n in some]
        jids = list(dict.fromkeys(ref.jid or "" for ref in refs))
        who = {"by": ANN, "reason": "", "operation": f"op-{number}"}
        one, queue = refs[0], dice.choice(QUEUES)
        kinds: dict[str, tuple[int, Callable[[DeadLetterQueue], Outcome | int], Iterable[Any]]] = {
            "redrive": (20, lambda q: q.redrive_entries(refs, **who), refs),
            "redrive reviewed": (10, lambda q: q.redrive_reviewed(one.jid or "", one.digest, one.score, **who), [one]),
            "redrive by jid": (8, lambda q: q.redrive(jids, **who), jids),
            "purge": (20, lambda q: q.purge_entries(refs, **who), refs),
            "purge by jid": (8, lambda q: q.purge(jids, **who), jids),
            "restore": (30, lambda q: q.restore([ref.digest for ref in refs], **who), [ref.digest for ref in refs]),
            "empty": (4, lambda q: q.empty([ref.digest for ref in refs], **who), [ref.digest for ref in refs]),
            "purge_all": (1, lambda q: q.purge_all(**who), []),
            "purge_all of a queue": (2, lambda q: q.purge_all(queue, **who), []),
        }
        self.kind = dice.choices(list(kinds), [weight for weight, _, _ in kinds.values()])[0]
        self.number, (_, self.act, asked) = number, kinds[self.kind]
        self.asked = [name(what) for what in asked]

    def told(self, queue: DeadLetterQueue) -> dict[str, Any]:
        try:
            answer = self.act(queue)
        except Unreachable:
            return {"unsent": self.asked}
        except AnswerLost:
            return {"lost": []}
        except NotDone as no:
            return {"not done": [no.reason]}
        if isinstance(answer, int):
            return {"entries": [answer]}
        groups = {group: [name(what) for what in getattr(answer, group)] for group in GROUPS}
        answered = sorted(what for whats in groups.values() for what in whats)
        assert answered == sorted(self.asked), "each in exactly one group"
        assert {refused.reason for refused in answer.refused} <= MAY_BE_REFUSED, answer.refused
        return groups


def name(what: object) -> str:
    what = what.what if isinstance(what, Refused) else what
    return what.digest if isinstance(what, EntryRef) else str(what)


def worker(port: int, seed: int, seconds: float) -> None:
    dice, end = random.Random(seed), time.monotonic() + seconds
    operator, jobs = connect(port, client_name="operator"), connect(port, client_name="worker")
    queue, writer = dead_letters(operator, keep=timedelta(seconds=0.05)), DeadLetterQueue(jobs)
    told, added = list[tuple[int, dict[str, Any]]](), 0
    while time.monotonic() < end:
        if dice.random() < 0.3:
            score = NO_TIME if dice.random() < 0.3 else dice.choice(SCORES)
            added += writer.add(score, dice.sample(LETTERS, dice.choice((1, 1, 3, 10))))
        else:
            press = Press(dice.randrange(OPERATIONS))
            told.append((press.number, press.told(queue)))
    json.dump({"told": told, "added": added}, sys.stdout)


def trial(kind: str, seconds: float, seed: int, kill: bool) -> Counter[str]:
    """Runs WORKERS of them against a server of that kind; AssertionError when anything does not add up."""
    with Server(kind, "--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0") as server:
        command = [sys.executable, "-m", "tests.support.model", str(server.port)]
        workers = [
            subprocess.Popen(
                [*command, str(seed * 100 + n), str(seconds)], cwd=sources.ROOT, stdout=subprocess.PIPE, text=True
            )
            for n in range(WORKERS)
        ]
        over = threading.Event()
        killer = threading.Thread(target=kill_connections, args=(server.client, over))
        if kill:
            killer.start()
        wrote = [worker.communicate()[0] for worker in workers]
        over.set()
        if kill:
            killer.join()
        assert [worker.returncode for worker in workers] == [0] * WORKERS
        reports = [json.loads(text) for text in wrote]
        model = Model()
        model.replay(server.folder)
        model.holds_what(server.client)
        model.one_copy_an_operation()
        told = [(Press(number), groups) for report in reports for number, groups in report["told"]]
        agree(model, told, kill)
        assert dict(dead_letters(server.client).counts()) == {
            queue.decode(): n for queue, n in model.counts.items() if n
        }
        seen = Counter({f"{action}, by the server": n for action, n in model.seen.items()})
        for press, groups in told:
            seen["presses"] += 1
            for group, whats in groups.items():
                seen[f"{press.kind}: {group}"] += len(whats)
        return seen


def kill_connections(redis: redis_py.Redis, over: threading.Event) -> None:
    while not over.is_set():
        pause(0.01)
        ids = [client["id"] for client in redis.client_list() if client["name"] == "operator"]
        if ids:
            redis.execute_command("CLIENT", "KILL", "ID", random.choice(ids))


def agree(model: Model, told: list[tuple[Press, dict[str, Any]]], kill: bool) -> None:
    """What the operators were told, and what was recorded."""
    done, unknown = set[tuple[str, str, str]](), set[tuple[str, str, str]]()
    for press, groups in told:
        operation, action = f"op-{press.number}", press.kind.split()[0]
        done |= {(operation, action, what) for what in groups.get("done", ())}
        unknown |= {(operation, action, what) for what in groups.get("unknown", ())}
        if action == "purge_all":
            row = model.records.get((operation, action, ""))
            if entries := groups.get("entries"):
                assert row is not None
                assert entries[0] <= int(row["entries"])
                done.add((operation, action, ""))
            else:
                assert kill
                unknown.add((operation, action, ""))
        else:
            assert kill or not (groups.get("unknown") or groups.get("unsent"))
    by_jid = {f"op-{press.number}" for press, _ in told if "by jid" in press.kind}
    recorded = {(op, action, row["jid"] if op in by_jid else what) for (op, action, what), row in model.records.items()}
    assert len(recorded) == len(model.records), "by jid an operation took two entries of a job"
    assert done - recorded == set(), "told as done, and was not"
    assert recorded - done - unknown == set(), "done, and nobody was told"


if __name__ == "__main__":
    worker(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
