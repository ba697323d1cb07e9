"""Every address. Actions have none of their own to look at: GET on them leads back to the list."""

from django.urls import path

from joobq_admin.pages import (
    answer,
    audit,
    bin,
    deliveries,
    entries,
    fresh,
    gates,
    groups,
    jobs,
    operations,
    purge_all,
    repairs,
    reviews,
    sign_in,
    ticked,
    unredacted,
    upkeep,
)
from joobq_admin.pages.display import display

urlpatterns = [
    path("", entries.home, name="home"),
    path("dead-letters/", entries.entries, name="entries"),
    path("dead-letters/groups/", groups.groups, name="groups"),
    path("dead-letters/fresh", fresh.fresh, name="fresh"),
    path("dead-letters/redrive", ticked.redrive, name="redrive"),
    path("dead-letters/purge", ticked.purge, name="purge"),
    path("dead-letters/purge-all", purge_all.purge_all, name="purge-all"),
    path("dead-letters/<str:ref>/", entries.entry, name="entry"),
    path("dead-letters/<str:ref>/redrive", entries.redrive, name="entry-redrive"),
    path("dead-letters/<str:ref>/purge", entries.purge, name="entry-purge"),
    path("dead-letters/<str:ref>/unredacted", unredacted.unredacted, name="entry-unredacted"),
    path("bin/", bin.entries, name="bin"),
    path("bin/restore", bin.restore, name="restore"),
    path("bin/empty", bin.empty, name="empty"),
    path("jobs/", jobs.job, name="jobs"),
    path("jobs/<path:jid>/", jobs.job, name="job"),
    path("operations/<str:operation>/", operations.operation, name="operation"),
    path("deliveries/", deliveries.overview, name="deliveries"),
    path("deliveries/ledger/", deliveries.ledger, name="ledger"),
    path("deliveries/request/", deliveries.request, name="request"),
    path("deliveries/close-gate", gates.close_gate, name="close-gate"),
    path("deliveries/open-gate", gates.open_gate, name="open-gate"),
    path("deliveries/repair", repairs.repair, name="repair"),
    path("deliveries/expire", upkeep.expire, name="expire"),
    path("deliveries/prune", upkeep.prune, name="prune"),
    path("deliveries/release", reviews.release, name="release"),
    path("deliveries/discard", reviews.discard, name="discard"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export", audit.export, name="audit-export"),
    path("display/", display, name="display"),
    path("auth/dev-role", sign_in.dev_role, name="dev-role"),
    path("auth/confirm", sign_in.confirm, name="confirm"),
    path("auth/login", sign_in.login, name="login"),
    path("auth/callback", sign_in.callback, name="callback"),
    path("auth/logout", sign_in.logout, name="logout"),
    path("auth/signed-out", sign_in.signed_out, name="signed-out"),
    path("auth/backchannel-logout", sign_in.backchannel_logout, name="backchannel-logout"),
]

handler400 = answer.bad_request
handler403 = answer.denied
handler404 = answer.not_found
handler500 = answer.server_error
