from redis import Redis

from joobq_admin.joobq.queues import waiting


def test_a_queue_has_as_many_as_its_list(redis: Redis) -> None:
    redis.rpush("müller", "a", "b")
    assert waiting(redis, "müller") == 2
    assert waiting(redis, "nobody") == 0


def test_a_key_of_another_type_is_no_queue(redis: Redis) -> None:
    redis.set("invoices", "text")
    assert waiting(redis, "invoices") is None
