/** Requests and answers, with the secrets in them. */
type Exchange = {
  readonly path: string;
  readonly hasToken: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
};

type Recorder = {
  readonly fetch: typeof fetch;
  readonly exchanges: readonly Exchange[];
  /** Each secret once: by the names of values in bodies, cookies, addresses, forms and headers. */
  secrets(): readonly string[];
};

const SHORTEST = 8;
/** Codes of problems, which are public. */
const IS_WORD = /^[a-z_]+$/;
/** In JSON, forms, queries, and the hidden fields of pages. */
const NAMES =
  'access_token|refresh_token|id_token|client_secret|secret|code|code_verifier|device_code|token|password|email|name|text';
const IN_JSON = new RegExp(`"(?:${NAMES})":"([^"]+)"`, 'g');
const IN_FORM = new RegExp(`(?:^|[?&#])(?:${NAMES})=([^&#]+)`, 'g');
const IN_PAGE = new RegExp(`name="(?:${NAMES})" value="([^"]+)"`, 'g');
const WORDS = /Bearer error|^(?:Bearer|Basic|DPoP) /;

/** Records everything that passes. */
export const recordExchanges = (fetchIt: typeof fetch): Recorder => {
  const exchanges: Exchange[] = [];
  const secrets = new Set<string>();
  const keep = (secret: string): void => {
    const plain = decodeURIComponent(secret.replaceAll('+', ' '));
    for (const each of [secret, plain]) if (each.length >= SHORTEST && !IS_WORD.test(each)) secrets.add(each);
  };
  const keepFrom = (text: string, ...patterns: readonly RegExp[]): void => {
    for (const pattern of patterns) for (const [, secret = ''] of text.matchAll(pattern)) keep(secret);
  };
  return {
    exchanges,
    secrets: () => [...secrets],
    fetch: async (input, init = {}) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const sent = new Headers(init.headers as Record<string, string>);
      keepFrom(search, IN_FORM);
      if (typeof init.body === 'string') keepFrom(init.body, IN_FORM, IN_JSON);
      const authorization = sent.get('authorization');
      if (authorization !== null) keep(authorization.replace(WORDS, ''));
      const response = await fetchIt(input, init);
      const { status, headers } = response;
      const body = await response.clone().text();
      keepFrom(body, IN_JSON, IN_PAGE);
      keepFrom(headers.get('location') ?? '', IN_FORM);
      // The id of an interaction is in its address; the signature in the cookie beside it is the secret.
      for (const cookie of headers
        .getSetCookie()
        .filter((each) => !/annals_(interaction|resume)=/.test(each)))
        keep(cookie.split(';')[0]?.split('=').slice(1).join('=') ?? '');
      exchanges.push({ path: pathname, hasToken: authorization !== null, status, headers, body });
      return response;
    },
  };
};
