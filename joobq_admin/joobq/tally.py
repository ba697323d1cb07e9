"""An exact count of a sorted set by any function of its entries, that never stops Redis.

The set is cut into blocks of about 200 by (score, member). Of each entry this process keeps a hash and what it
is counted by.
Three kinds of evidence, all cheap for Redis:
  ranks     the rank of every block's end: finds every block whose size changed (a survey); no member leaves Redis;
  bytes     a block is read again and its hashes compared: nothing else finds one entry exchanged for another in place;
  WATCH     a guard: an EXEC that succeeds proves that nothing at all changed in the set since the WATCH.
complete = the ranks of all blocks agreed in one guarded moment: the total is certain, names are as they were read.
exact = every byte was read under one unbroken guard. Ranks alone never make a count exact.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Generic, TypeVar

from redis import Redis

from joobq_admin.joobq import scripts
from joobq_admin.joobq.guard import Guard
from joobq_admin.joobq.scripts import RANKS, Call

BLOCK = 200  # entries of a block when it is cut; under half of it blocks are joined, over twice as many they are cut
BYTES = 2 << 20  # what one reply should hold (twice that at most): larger entries make blocks of fewer
SURVEY = 100  # ends of blocks whose ranks are asked in one call
GRACE, GRACE_TIME = 8_000, 0.5  # entries and seconds beyond the budget, to name a moment after a proof that failed

Name = TypeVar("Name", bound=Hashable)
Then = Callable[[bool], Sequence[Call]]  # proved -> commands for the EXEC that makes the count certain


class OutOfBudget(Exception):
    """The entries or the time granted to this refresh are used up."""


class Block:
    """What lies after the block before and up to this end: (score, '=' + member), or all of a score (place '')."""

    __slots__ = ("bytes", "hashes", "names", "place", "read", "score")

    def __init__(self, score: bytes, place: bytes) -> None:
        self.score, self.place, self.hashes = score, place, array("q")
        self.names: Any = ()  # what is kept of each entry: a sequence, to which another can be added
        self.bytes = self.read = 0  # how much the members were; in which refresh they were read, 0 = they must be


class Blocks(Generic[Name]):
    """total: entries that are known, as_of: the server's clock when that was last certain.

    Holds two connections of its own and, beside what is kept, 8 bytes an entry. For one thread at a time.
    """

    scored = False  # is what is kept told by the score too?

    def __init__(self, redis: Redis, key: bytes) -> None:
        self.redis, self.key = redis, key
        self.total = self.entries_read = 0
        self.as_of: datetime | None = None
        self.complete = self.exact = False
        self.quiet = False  # nothing had changed since the refresh before
        self.answers: list[Any] = []  # to the commands of `then` that ran last
        self.blocks = [Block(b"+inf", b"")]
        self._round, self._take = 0, BLOCK // 8  # small until sizes are known
        self._guard, self._other = Guard(redis, key), Guard(redis, key)

    def name(self, member: bytes, score: float) -> Name:
        """What an entry is counted by. `score`: 0 unless `scored`."""
        raise NotImplementedError

    def kept(self, names: Iterable[Name], before: Any) -> Any:
        """How a block keeps its names; `before`: what it kept until now."""
        raise NotImplementedError

    def size(self) -> tuple[int, datetime]:
        """Entries in the set, and the server's clock. Raises Unreachable, or what Redis says."""
        size, (seconds, micros) = scripts.read(self.redis, [("ZCARD", self.key), ("TIME",)])
        return int(size), datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(micros))

    def refresh(
        self,
        budget: float = float("inf"),
        deadline: float = float("inf"),
        then: Then | None = None,
        prove: bool = True,
        progress: Callable[[], object] | None = None,
    ) -> bool:
        """Brings the count up to date within `budget` entries read and until `deadline` (monotonic); True = complete.

        Without `prove` nothing is read again for exactness alone. `then` gives commands that run in the very EXEC that
        makes the count complete or exact. `progress` is called before each block. Raises what Redis says, and goes on
        from there when called again.
        """
        self._left, self._deadline, self._progress, self.answers = budget, deadline, progress, []
        self._other.arm()  # before the old guard is asked: no gap between them
        self._guard, self._other = self._other, self._guard
        self.quiet = self._proved(self._other, then if self.complete else None, self.exact)
        if self.quiet and self.exact:
            return True
        settled, self.complete, self.exact = self.quiet and self.complete, False, False
        self._round += 1
        prove = prove or not any(block.read for block in self.blocks)  # a first pass reads all of it anyway
        try:
            if not settled:
                self._settle(None if prove else then)
        except OutOfBudget:
            return False
        if not prove and any(block.read < self._round for block in self.blocks):
            self.complete = True
            return True
        self.complete = False
        with suppress(OutOfBudget):
            self._repair(everything=True)
            self._other.arm()
            if self._proved(self._guard, then, proved=True):
                self._guard, self._other = self._other, self._guard
                self.complete = self.exact = True
                return True
        self._left, self._deadline = GRACE, monotonic() + GRACE_TIME
        self._guard.arm()
        with suppress(OutOfBudget):
            self._settle(then)  # what the reading changed is put right by ranks, and the moment is named again
        return self.complete

    def _settle(self, then: Then | None) -> None:
        """Reads blocks whose size changed until a survey of all ranks finds none and nothing moved meanwhile."""
        self.complete = False
        while not self.complete:
            self._other.arm()
            if not self._repair():
                self.complete = self._proved(self._other, then)
                if not self.complete:
                    self._spend()

    def _repair(self, everything: bool = False) -> int:
        """Surveys the ranks and reads what changed (or all that this refresh has not read); how many blocks."""
        self._tidy()
        ranks = self._survey()
        blocks, self.blocks, start, changed = self.blocks, [], 0, 0
        for i, (block, end) in enumerate(zip(blocks, ranks, strict=True)):
            if not block.read or end - start != len(block.hashes) or (everything and block.read < self._round):
                try:
                    self._load(block, start, end)
                except BaseException:  # raised again: whatever ended it, blocks that were not come to stay known
                    self.blocks += blocks[i:]
                    raise
                changed += 1
            self.blocks.append(block)
            start = end
        return changed

    def _load(self, block: Block, start: int, end: int) -> None:
        """Reads one block, cutting pieces off its low end while it is too large.

        Ranks and members are read one after the other: what came between them is found by the next survey.
        """
        known = dict(zip(block.hashes, block.names, strict=True))
        while True:
            self._spend()
            low = self.blocks[-1] if self.blocks else None
            limit = BLOCK if block.bytes else self._take  # of what was read before the bytes are known
            take = min(self._take, (end - start) // 2)
            cut = end - start > 2 * limit or (take > 0 and block.bytes > 2 * BYTES)
            pipe = self.redis.pipeline(transaction=False)
            pipe.execute_command("EVAL_RO", RANKS.text, 1, self.key, *_places(filter(None, (low, block))))
            last = start + take if cut else max(start, end - 1)
            pipe.zrange(self.key, start, last, withscores=cut or self.scored)
            ranks, rows = pipe.execute()
            asked, start, end = (start, end), ranks[0] if low else 0, ranks[-1]
            if asked[0] != start or (len(rows) <= take if cut else asked[1] != end):
                continue  # something moved since the survey: the same question with the ranks of this moment
            if not (cut or self.scored):
                rows = [(member, 0.0) for member in rows]
            if not cut:
                self._put(block, rows if end > start else [], known)
                return
            (place, score), (_, next_score) = rows[-2:]
            piece = Block(b"%.17g" % score, b"" if score != next_score else b"=" + place)
            self.blocks.append(piece)
            self._put(piece, rows[:-1], known)
            rest = max(0, block.bytes - piece.bytes)
            self._put(block, [], {})  # the pieces have taken over what it had counted
            block.read, block.bytes = 0, rest
            start += take

    def _put(self, block: Block, rows: Sequence[Sequence[Any]], known: Mapping[int, Name]) -> None:
        """Replaces what a block is known to hold; only entries not seen in it before are given to `name`."""
        members = [member for member, _ in rows]
        hashes = array("q", [hash(tuple(row)) for row in rows] if self.scored else list(map(hash, members)))
        block.bytes, block.read = sum(map(len, members)), self._round
        self._left -= len(rows)
        self.entries_read += len(rows)
        if block.bytes:  # after large members small blocks, and back
            self._take = max(1, min(BLOCK, 2 * self._take, len(rows) * BYTES // block.bytes))
        if hashes and hashes == block.hashes:
            return
        names = (known[h] if h in known else self.name(*row) for h, row in zip(hashes, rows, strict=True))
        block.names = self.kept(names, block.names)
        self.total += len(hashes) - len(block.hashes)
        block.hashes = hashes

    def _tidy(self) -> None:
        """Joins small blocks with their neighbour; a joined one that is too large is read again and cut."""
        blocks = self.blocks[:1]
        for block in self.blocks[1:]:
            last = blocks[-1]
            small = min(len(last.names), len(block.names)) < BLOCK // 2 and last.bytes + block.bytes <= 2 * BYTES
            if small and last.read and block.read:
                block.hashes, block.names = last.hashes + block.hashes, last.names + block.names
                block.bytes += last.bytes
                block.read = min(last.read, block.read) if len(block.names) <= 2 * BLOCK else 0
                blocks[-1] = block
            else:
                blocks.append(block)
        self.blocks = blocks

    def _survey(self) -> list[int]:
        """The rank of each block's end: how many entries stand at or before it."""
        ranks = list[int]()
        for i in range(0, len(self.blocks), SURVEY):
            places = _places(self.blocks[i : i + SURVEY])
            ranks += self.redis.execute_command("EVAL_RO", RANKS.text, 1, self.key, *places)
        return ranks

    def _proved(self, guard: Guard, then: Then | None, proved: bool = False) -> bool:
        """True if nothing changed since the guard was armed (a lost connection counts as a change)."""
        proof = guard.proves(then(proved) if then else ())
        if proof:
            self.as_of, self.answers = proof
        return proof is not None

    def _spend(self) -> None:
        if self._left <= 0 or monotonic() > self._deadline:
            raise OutOfBudget
        if self._progress:
            self._progress()


class Tally(Blocks[Name]):
    """counts: name -> how many, by any function of the bytes. 16 bytes an entry, whatever `of` gives."""

    def __init__(self, redis: Redis, key: bytes, of: Callable[[bytes], Name]) -> None:
        super().__init__(redis, key)
        self.of, self.counts, self._names = of, Counter[Name](), dict[Name, Name]()

    def name(self, member: bytes, score: float) -> Name:
        return self.of(member)

    def kept(self, names: Iterable[Name], before: tuple[Name, ...]) -> tuple[Name, ...]:
        """The same object for equal names."""
        kept = tuple(self._names.setdefault(name, name) for name in names)
        self.counts.update(kept)
        self.counts.subtract(before)
        for name in set(before):
            if not self.counts[name]:
                del self.counts[name], self._names[name]
        return kept


def _places(blocks: Iterable[Block]) -> list[bytes]:
    """The ends of blocks as the script `ranks` takes them."""
    return [text for block in blocks for text in (block.score, block.place)]
