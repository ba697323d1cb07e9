// A certified OpenID provider (npm oidc-provider) whose answers a test can spoil. ISSUER and APP are its address and ours.
// Anybody of USERS signs in by name, without a password. For the test alone:
//   POST /test/mode?m=<fault>                 id tokens have this fault from now on; ok ends it
//   POST /test/outage?m=503|html|hang|reset|  what it answers from now on, at path=… or everywhere; nothing ends it
//   POST /test/rotate                         a new signing key; the old one is withdrawn
//   GET  /test/logout_token?sub=&sid=&m=      a logout token with this fault
//   GET  /test/log                            what happened since the last look
import crypto from "node:crypto";
import http from "node:http";
import * as jose from "jose";
import Provider from "oidc-provider";

const { ISSUER, APP, SECRET } = process.env;
const USERS = {
  vera: { name: "Vera Viewer", groups: ["viewers"] },
  otto: { name: "Zoë Łukasiewicz 李", groups: ["operators", "staff"] },
  ada: { name: "Ada Admin", groups: ["admins"] },
  nobody: { name: "No Groups" },
  str: { name: "String", groups: "admins" },
  many: { name: "Many Groups", groups: [...Array(300).keys()].map((n) => `group-${n}`).concat("viewers") },
  over: { name: "Too many for a token", _claim_names: { groups: "src1" } },
  evil: { name: "<img src=x onerror=alert(1)>\r\nSet-Cookie: a=b", groups: ["viewers"] },
};

async function newKey(kid) {
  const { privateKey, publicKey } = await jose.generateKeyPair("RS256", { extractable: true });
  const named = { kid, alg: "RS256", use: "sig" };
  return { kid, privateKey, publicKey, jwk: { ...(await jose.exportJWK(privateKey)), ...named },
    open: { ...(await jose.exportJWK(publicKey)), ...named } };
}
const rogue = await newKey("k1"); // of the same name
let key = await newKey("k1"), serial = 1, mode = "ok", outage = { m: "", path: "" }, log = [], handler;

function build() {
  const provider = new Provider(ISSUER, {
    clients: [{
      client_id: "joobq-admin", client_secret: SECRET, redirect_uris: [`${APP}/auth/callback`], grant_types: ["authorization_code"],
      post_logout_redirect_uris: [`${APP}/auth/signed-out`], backchannel_logout_uri: `${APP}/auth/backchannel-logout`,
      backchannel_logout_session_required: true,
    }],
    jwks: { keys: [key.jwk] },
    claims: { openid: ["sub"], profile: ["name"], email: ["email"], groups: ["groups", "_claim_names"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true }, backchannelLogout: { enabled: true } },
    pkce: { required: () => true },
    fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options), // its own refuses this machine's addresses
    cookies: { keys: ["only the lab's"] },
    findAccount: (_, id) => USERS[id] && { accountId: id, claims: async () => ({ sub: id, ...USERS[id] }) },
    loadExistingGrant: async (ctx) => { // nobody is asked for consent; a new grant would void the code of another tab
      const { client, session, provider: op } = ctx.oidc, old = session.grantIdFor(client.clientId);
      if (old) return op.Grant.find(old);
      const grant = new op.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  });
  for (const event of ["backchannel.success", "backchannel.error", "grant.error", "server_error"])
    provider.on(event, (...all) => log.push([event, all.find((each) => each instanceof Error)?.message ?? ""]));
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === "/token" && ctx.body?.id_token && mode !== "ok") {
      const { id_token, ...rest } = ctx.body;
      ctx.body = mode === "no_id_token" ? rest : { ...rest, id_token: await mint(jose.decodeJwt(id_token), mode) };
    }
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith("/interaction/")) return next();
    if (ctx.method === "POST") {
      let body = "";
      for await (const piece of ctx.req) body += piece;
      const login = new URLSearchParams(body).get("login");
      return provider.interactionFinished(ctx.req, ctx.res, login === "cancel"
        ? { error: "access_denied", error_description: "<b>no</b>" } : { login: { accountId: login } });
    }
    ctx.type = "html";
    ctx.body = '<form method="post"><input name="login"></form>';
  });
  handler = provider.callback();
}

const b64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
function hs256(claims, secret) {
  const text = `${b64({ alg: "HS256", kid: key.kid })}.${b64(claims)}`;
  return `${text}.${crypto.createHmac("sha256", secret).update(text).digest("base64url")}`;
}
const without = (name) => (claims) => { delete claims[name]; };
const FAULTS = { // what each does to claims and header; the return value, if any, signs
  ok: () => {},
  wrong_aud: (c) => { c.aud = "other"; },
  multi_aud_no_azp: (c) => { c.aud = [c.aud, "other"]; },
  multi_aud_bad_azp: (c) => { c.aud = [c.aud, "other"]; c.azp = "other"; },
  expired: (c, now) => { c.iat = now - 7200; c.exp = now - 3600; },
  future_iat: (c, now) => { c.iat = c.nbf = now + 3600; c.exp = now + 7200; },
  wrong_iss: (c) => { c.iss = "https://evil.example"; },
  iss_slash: (c) => { c.iss += "/"; },
  wrong_nonce: (c) => { c.nonce = "attacker"; },
  at_hash: (c) => { c.at_hash = "AAAAAAAAAAAAAAAAAAAAAA"; },
  empty_sub: (c) => { c.sub = ""; },
  array_sub: (c) => { c.sub = ["ada"]; },
  no_exp: without("exp"), no_iat: without("iat"), no_nonce: without("nonce"), no_sub: without("sub"), no_aud: without("aud"),
  no_iss: without("iss"), no_jti: without("jti"), no_events: without("events"),
  rogue_key: () => rogue.privateKey,
  unknown_kid: (c, now, h) => { h.kid = "nope"; return rogue.privateKey; },
  embedded_jwk: (c, now, h) => { delete h.kid; h.jwk = rogue.open; return rogue.privateKey; },
  jku: (c, now, h) => { h.kid = "evil"; h.jku = `${ISSUER}/test/evil-keys`; return rogue.privateKey; },
  with_nonce: (c) => { c.nonce = "x"; },
  null_events: (c) => { c.events = null; },
  nobody: (c) => { delete c.sub; delete c.sid; },
  old: (c, now) => { c.iat = now - 86400; c.exp = now - 80000; },
};
async function mint(claims, fault) {
  const header = { alg: "RS256", kid: key.kid, ...(claims.events ? { typ: "logout+jwt" } : {}) };
  const pem = await jose.exportSPKI(key.publicKey);
  const written = { alg_none: `${b64({ alg: "none" })}.${b64(claims)}.`, hs256_pubkey: hs256(claims, pem), hs256_secret: hs256(claims, SECRET),
    garbage: "not.a.jwt" };
  if (fault in written) return written[fault];
  const signer = FAULTS[fault](claims, Math.floor(Date.now() / 1000), header) ?? key.privateKey;
  return new jose.SignJWT(claims).setProtectedHeader(header).sign(signer);
}

build();
http.createServer(async (req, res) => {
  const { pathname, searchParams: q } = new URL(req.url, ISSUER), now = Math.floor(Date.now() / 1000);
  const say = (what, type = "application/json") => { res.setHeader("content-type", type); res.end(typeof what === "string" ? what : JSON.stringify(what)); };
  const given = (...names) => Object.fromEntries(names.filter((name) => q.get(name)).map((name) => [name, q.get(name)]));
  const tests = {
    "/test/mode": () => say({ mode: mode = q.get("m") }),
    "/test/outage": () => say(outage = { m: q.get("m"), path: q.get("path") }),
    "/test/rotate": async () => { key = await newKey(`k${++serial}`); build(); say({ kid: key.kid }); },
    "/test/log": () => { say(log); log = []; },
    "/test/evil-keys": () => { log.push(["jku", "fetched"]); say({ keys: [{ ...rogue.open, kid: "evil" }] }); },
    "/test/logout_token": async () => say(await mint({
      iss: ISSUER, aud: "joobq-admin", iat: now, exp: now + 120, jti: crypto.randomUUID(), ...given("sub", "sid"),
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    }, q.get("m") ?? "ok"), "text/plain"),
  };
  if (tests[pathname]) return tests[pathname]();
  if (!outage.m || (outage.path && outage.path !== pathname)) return handler(req, res);
  if (outage.m === "reset") return req.socket.destroy();
  if (outage.m === "hang") return undefined; // never answered
  res.statusCode = outage.m === "html" ? 200 : 503;
  return say("<html>maintenance</html>", "text/html");
}).listen(new URL(ISSUER).port, "127.0.0.1");
