-- Changes nothing. A replica refuses it: one that lags must not answer for its primary. And what has written is not
-- refused for memory any more: in a full Redis, work in flight can still end.
redis.call('HDEL', records, '')
