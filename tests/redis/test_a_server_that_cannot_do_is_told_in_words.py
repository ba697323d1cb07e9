import re
from collections.abc import Callable

from joobq_admin.joobq import scripts
from joobq_admin.joobq.server import shortcoming, told_by
from tests.support.servers import Server, as_cluster


def test_a_server_of_today_will_do(server: Server) -> None:
    assert shortcoming(server.client) is None


def test_a_cluster_is_refused(new_server: Callable[..., Server]) -> None:
    cluster = new_server("valkey", *as_cluster())
    assert shortcoming(cluster.client) == (
        "This is a Redis Cluster. JoobQ's keys lie in several slots of it, and one step must change them together."
    )


def test_an_old_one_is_refused(server: Server) -> None:
    info = scripts.read(server.client, [("INFO", "server", "cluster")])[0].decode()
    old = re.sub("(?m)^redis_version:.*?$", "redis_version:6.2.21\r", info)
    assert told_by(info) is None
    assert told_by(old) == "This is Redis 6.2.21. JoobQ Admin needs Redis 7.0 or Valkey 7.2."


def test_who_may_not_ask_is_not_refused(new_server: Callable[..., Server]) -> None:
    server = new_server("valkey")
    server.client.execute_command("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@read")
    assert shortcoming(server.connect(username="reader", password="x")) is None
