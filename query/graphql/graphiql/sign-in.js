// Signs the reader in as the console does, if they have a session, and sends a token with what the editor requests. Tokens are kept in memory only.
// Scripts share their names, so that these stand in a block.
{
  const { home, issuer, scope } = document.currentScript.dataset;
  const CLIENT_ID = 'console';
  /** Survives the redirects to the sign-in page and back. */
  const KEY = 'annals.graphiql.sign-in';
  /** A tab whose reader has no session asks for one once. */
  const TRIED = 'annals.graphiql.tried';
  const EARLY_MS = 60_000;
  const plainFetch = window.fetch.bind(window);
  let tokens;
  let renewing;

  const base64url = (bytes) =>
    btoa(String.fromCharCode(...bytes))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=+$/, '');
  const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
  /** RFC 7636, section 4.2. */
  const challengeOf = async (verifier) =>
    base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));

  const tokensBy = async (grant) => {
    const body = new URLSearchParams({ ...grant, client_id: CLIENT_ID });
    const response = await plainFetch(new URL('/token', issuer), { method: 'POST', body });
    if (!response.ok) return undefined;
    const found = await response.json();
    return { ...found, untilMs: Date.now() + found.expires_in * 1_000 - EARLY_MS };
  };

  /** Leaves the page, so it never resolves. */
  const authorize = async (more) => {
    const kept = { state: randomText(), verifier: randomText(), search: location.search };
    sessionStorage.setItem(KEY, JSON.stringify(kept));
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: home,
      scope,
      state: kept.state,
      code_challenge: await challengeOf(kept.verifier),
      code_challenge_method: 'S256',
      ...more,
    });
    location.assign(new URL(`/authorize?${query}`, issuer));
    return new Promise(() => {});
  };

  const takeAnswer = async (answer) => {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    sessionStorage.removeItem(KEY);
    const isOurs = kept !== null && kept.state === answer.get('state');
    history.replaceState(null, '', new URL(home).pathname + (isOurs ? kept.search : ''));
    const code = answer.get('code');
    if (!isOurs || code === null) return;
    tokens = await tokensBy({
      grant_type: 'authorization_code',
      code,
      code_verifier: kept.verifier,
      redirect_uri: home,
    });
    if (tokens !== undefined) sessionStorage.removeItem(TRIED);
  };

  const enter = async () => {
    const answer = new URLSearchParams(location.search);
    if (answer.has('state')) return takeAnswer(answer);
    // A link may bring a query of somebody else, which must not run with the rights of the reader by one click.
    if (location.search !== '' || sessionStorage.getItem(TRIED) !== null) return;
    sessionStorage.setItem(TRIED, 'yes');
    await authorize({ prompt: 'none' });
  };

  const renew = async () => {
    tokens = await tokensBy({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' });
    renewing = undefined;
  };

  /** A refresh token is valid once, so concurrent requests wait for one renewal. */
  const token = async () => {
    if (tokens !== undefined && Date.now() >= tokens.untilMs) {
      renewing ??= renew();
      await renewing;
    }
    return tokens?.access_token;
  };

  const isOfEditor = (input) =>
    new URL(input.url ?? input, location.href).pathname === new URL(home).pathname;

  const fetchWithToken = async (input, init) => {
    const headers = new Headers(init?.headers ?? input.headers);
    // A token under “Headers” comes first.
    const own = !isOfEditor(input) || headers.has('authorization') ? undefined : await token();
    if (own === undefined) return plainFetch(input, init);
    headers.set('authorization', `Bearer ${own}`);
    return plainFetch(input, { ...init, headers });
  };

  const nameOfReader = async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ me { name } }' });
    const response = await window.fetch(home, { method: 'POST', headers, body });
    const { data } = await response.json().catch(() => ({}));
    return data?.me?.name;
  };

  if (home !== undefined && location.origin === new URL(home).origin && isSecureContext) {
    window.fetch = fetchWithToken;
    window.annalsSignIn = {
      /** The name of the reader; undefined without a session. */
      entered: enter().then(async () => (tokens === undefined ? undefined : ((await nameOfReader()) ?? ''))),
      start: () => authorize({}),
    };
  }
}
