"""A model of the dead-letter queue in plain Python, fed with what a server itself wrote down: its append-only file.

The file holds every change in the order in which it happened, those of one script between MULTI and EXEC. Each script's
must have one of a few shapes, each makes sense only upon what the model holds, and in the end both hold the same.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.entry import Entry, job_key
from tests.support.letters import digest

Command = list[bytes]
TRIM = [[b"HDEL", keys.BIN], [b"HINCRBY", keys.BIN], [b"ZREM", keys.BIN_TIMES]]
PLANS = b"joobq:admin:plan:"  # what is planned is told by its record
Mark = tuple[str, str, str]  # operation, action, digest


def steps(folder: Path) -> Iterator[list[Command]]:
    """The commands of an append-only file, those of one script together."""
    (path,) = (folder / "appendonlydir").glob("*.incr.aof")
    step: list[Command] | None = None
    for command in _commands(path.read_bytes()):
        name = command[0].upper()
        if name == b"MULTI":
            step = []
        elif name == b"EXEC":
            yield step or []
            step = None
        elif name == b"SELECT":  # the database, at the very beginning
            assert command[1] == b"0"
        elif step is None:
            yield [command]
        else:
            step.append(command)


def _commands(text: bytes) -> Iterator[Command]:
    at = 0
    while at < len(text):
        end = text.index(b"\r\n", at)
        many, at, command = int(text[at + 1 : end]), end + 2, []
        for _ in range(many):
            end = text.index(b"\r\n", at)
            size, start = int(text[at + 1 : end]), end + 2
            command.append(text[start : start + size])
            at = start + size + 2
        yield command


class Model:
    """What the database must hold after the steps that were applied."""

    def __init__(self) -> None:
        self.dead = dict[bytes, float]()
        self.counts = Counter[bytes]()
        self.lists = defaultdict[bytes, list[bytes]](list)
        self.bin = dict[bytes, bytes]()
        self.times = dict[bytes, float]()
        self.records = dict[Mark, dict[str, str]]()
        self.index = set[bytes]()
        self.planned = Counter[bytes]()  # queue -> entries that may go without a record of their own
        self.seen = Counter[str]()

    def replay(self, folder: Path) -> None:
        for step in steps(folder):
            self.apply(step)

    def apply(self, step: list[Command]) -> None:
        step = [command for command in step if not command[1].startswith(PLANS)]
        names = [command[0].upper() for command in step]
        if not names:
            return
        if b"XADD" in names:
            (record,) = [command for command in step if command[0].upper() == b"XADD"]
            fields = dict(zip(record[3::2], record[4::2], strict=True))
            action = fields[b"action"].decode()
            fields[b"id"] = record[2]
            self.remember(record[2], fields, [c for c in step if c[:2] == [b"ZADD", keys.AUDIT_INDEX]])
            rest = [c for c in step if c is not record and c[1] != keys.AUDIT_INDEX]
            getattr(self, f"_{action}")(fields, rest)
        elif names[0] == b"ZADD":
            action = "add"
            self._add(step)
        elif step[0][:2] == [b"ZREM", keys.DEAD]:
            action = "removed"
            self._removed(step)
        else:
            action = "trim"
            self._trim(step)
        self.seen[action] += 1

    def remember(self, id_: bytes, fields: dict[bytes, bytes], index: list[Command]) -> None:
        row = {name.decode(): value.decode("utf-8", "surrogateescape") for name, value in fields.items()}
        mark = row["operation"], row["action"], row.get("digest", "")
        assert mark not in self.records, f"done twice: {mark}"
        self.records[mark] = row
        members = {"\0".join((f"o:{mark[0]}", *mark[1:])).encode() + b"\0" + id_}
        members |= {f"d:{mark[2]}".encode() + b"\0" + id_} if mark[2] else set()
        members |= {f"j:{row['jid']}".encode() + b"\0" + id_} if row.get("jid") else set()
        members |= {f"s:{mark[0]}\0{row['job']}".encode() + b"\0" + id_} if row.get("job") else set()
        members |= {b"a:purge_all\0" + id_} if mark[1] == "purge_all" else set()
        assert {command[3] for command in index} == members
        self.index |= members

    def leaves(self, fields: dict[bytes, bytes], command: Command) -> bytes:
        """The entry that a record is about leaves the set."""
        assert command[:2] == [b"ZREM", keys.DEAD]
        (member,) = command[2:]
        assert digest(member).encode() == fields[b"digest"]
        assert (Entry(member, 0).jid or "").encode() == fields[b"jid"]
        assert self.dead.pop(member) == float(fields[b"score"])
        return member

    def counted(self, command: Command, member: bytes, by: int) -> None:
        assert command == [b"HINCRBY", keys.COUNTS, queue_of(member), b"%d" % by]
        self.counts[queue_of(member)] += by

    def _redrive(self, fields: dict[bytes, bytes], step: list[Command]) -> None:
        removal, push, count, *unlock = step
        member = self.leaves(fields, removal)
        queue = queue_of(member)
        assert push[:2] == [b"RPUSH", queue]
        assert queue == fields[b"queue"]
        assert queue
        (pushed,) = push[2:]
        assert plain(pushed) == plain(member).replace(b'"dead"', b'"enqueued"').replace(b'"retries":0', b'"retries":3')
        assert hashlib.sha256(pushed).hexdigest().encode() == fields[b"sent"]
        self.counted(count, member, -1)
        assert unlock in ([], [[b"DEL", keys.retry_lock(lock_name(member))]])
        self.lists[queue].append(pushed)

    def _purge(self, fields: dict[bytes, bytes], step: list[Command]) -> None:
        removal, put, size, count, time = step
        member = self.leaves(fields, removal)
        assert put[:3] == [b"HSET", keys.BIN, fields[b"digest"]]
        head, _, kept = put[3].partition(b"\n")
        assert kept == member
        score, at, _ = head.split(b" ", 2)
        assert score == fields[b"score"]
        ms, nth = map(int, fields[b"id"].split(b"-"))
        purged = ms + nth % 4096 / 4096
        assert 0 <= ms - int(at) < 1_000
        assert time == [b"ZADD", keys.BIN_TIMES, time[2], fields[b"digest"]]
        assert float(time[2]) == purged
        grown = len(put[3]) - len(self.bin.get(fields[b"digest"], b""))
        assert size == [b"HINCRBY", keys.BIN, b"bytes", b"%d" % grown]
        self.counted(count, member, -1)
        self.bin[fields[b"digest"]], self.times[fields[b"digest"]] = put[3], purged

    def _restore(self, fields: dict[bytes, bytes], step: list[Command]) -> None:
        name = fields[b"digest"]
        value = self.bin.pop(name)
        self.times.pop(name)
        head, _, member = value.partition(b"\n")
        gone, *back, time, size = step
        assert gone == [b"HDEL", keys.BIN, name]
        assert time == [b"ZREM", keys.BIN_TIMES, name]
        assert size == [b"HINCRBY", keys.BIN, b"bytes", b"%d" % -len(value)]
        assert (member in self.dead) == (fields[b"there"] == b"1")
        if member in self.dead:
            assert back == []
            assert self.dead[member] == float(fields[b"score"])
        else:
            returned, count = back
            score = head.split(b" ")[0]
            assert (returned, fields[b"score"]) == ([b"ZADD", keys.DEAD, score, member], score)
            self.counted(count, member, 1)
            self.dead[member] = float(score)

    def _empty(self, fields: dict[bytes, bytes], step: list[Command]) -> None:
        name = fields[b"digest"]
        value = self.bin.pop(name)
        self.times.pop(name)
        size = [b"HINCRBY", keys.BIN, b"bytes", b"%d" % -len(value)]
        assert step == [[b"HDEL", keys.BIN, name], [b"ZREM", keys.BIN_TIMES, name], size]
        assert value.startswith(fields[b"score"] + b" ")

    def _purge_all(self, fields: dict[bytes, bytes], step: list[Command]) -> None:
        entries = int(fields[b"entries"])
        if b"queue" in fields:
            assert step == []
            self.planned[fields[b"queue"]] += entries
            return
        assert entries == len(self.dead)
        assert all(command in ([b"UNLINK", keys.DEAD], [b"UNLINK", keys.COUNTS]) for command in step)
        self.dead.clear()
        self.counts.clear()

    def _removed(self, step: list[Command]) -> None:
        """Some of those that a purge of their whole queue stands for."""
        *removals, count = step
        members = [member for *key, member in removals if key == [b"ZREM", keys.DEAD]]
        assert len(members) == len(removals)
        for member in members:
            del self.dead[member]
        (queue,) = set(map(queue_of, members))
        self.counted(count, members[0], -len(members))
        self.planned[queue] -= len(members)
        assert self.planned[queue] >= 0

    def _add(self, step: list[Command]) -> None:
        while step:
            (_, key, score, member), *step = step
            assert key == keys.DEAD
            if member not in self.dead:
                count, *step = step
                self.counted(count, member, 1)
            self.dead[member] = float(score)

    def _trim(self, step: list[Command]) -> None:
        assert [command[:2] for command in step] == TRIM, step
        entries, size, times = step
        assert times[2:] == entries[2:]
        freed = sum(len(self.bin.pop(name)) for name in times[2:] if self.times.pop(name))
        assert size[2:] == [b"bytes", b"%d" % -freed]

    def holds_what(self, redis: redis_py.Redis) -> None:
        """Compares all of it with what the server holds."""
        assert dict(redis.zrange(keys.DEAD, 0, -1, withscores=True)) == self.dead
        counts = {queue: int(n) for queue, n in redis.hgetall(keys.COUNTS).items()}
        assert {queue: n for queue, n in counts.items() if n} == {queue: n for queue, n in self.counts.items() if n}
        assert Counter(map(queue_of, self.dead)) == +self.counts
        for queue, pushed in self.lists.items():
            assert redis.lrange(queue, 0, -1) == pushed
        values = redis.hgetall(keys.BIN)
        assert int(values.pop(b"bytes", 0)) == sum(map(len, values.values()))
        assert values == self.bin
        assert dict(redis.zrange(keys.BIN_TIMES, 0, -1, withscores=True)) == self.times
        assert redis.xlen(keys.AUDIT) == len(self.records)
        assert set(redis.zrange(keys.AUDIT_INDEX, 0, -1)) == self.index
        known = {keys.DEAD, keys.COUNTS, keys.BIN, keys.BIN_TIMES, keys.AUDIT, keys.AUDIT_INDEX, *self.lists}
        assert {key for key in redis.scan_iter() if not key.startswith(PLANS)} <= known

    def one_copy_an_operation(self) -> None:
        """No operation has sent two copies of a job."""
        sent = Counter((operation, job_key(row["jid"])) for (operation, action, _), row in self.records.items()
                       if action == "redrive" and row["jid"])  # fmt: skip
        assert [which for which, times in sent.items() if times > 1] == []


def plain(raw: bytes) -> bytes:
    """Without the values of `expires` and `error`, which end a letter of tests.support.model."""
    head, _, rest = raw.partition(b'"expires":')
    return head + rest.partition(b",")[2].partition(b'"error":')[0]


def lock_name(member: bytes) -> bytes:
    jid = job_key(Entry(member, 0).jid or "")
    return f"{jid[:8]}-{jid[8:12]}-{jid[12:16]}-{jid[16:20]}-{jid[20:]}".encode()
