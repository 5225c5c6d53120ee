import { jsonIn, Problem } from '../../problem.ts';
import { LIMITS, send } from '../../transport.ts';
import type { TokenOptions } from '../token-endpoint.ts';

/** Pages without a registered client: in development, Annals knows those of the user’s own machine. */

/** The id by which Annals knows the origin of such a page; undefined for every other page. */
export const localClientId = ({ protocol, hostname, port }: URL): string | undefined =>
  protocol === 'http:' && /^(?:localhost|127\.0\.0\.1)$/.test(hostname)
    ? `page-${hostname.replaceAll('.', '-')}-${port || '80'}`
    : undefined;

type Asked = TokenOptions & { readonly redirectUri: string };

/** Throws if the server does not know such pages, because it runs in production. */
export const demandLocalPages = async ({
  url,
  redirectUri,
  fetch = globalThis.fetch.bind(globalThis),
  ...limits
}: Asked): Promise<void> => {
  const session = { authorize: async () => ({}) };
  const asked = { method: 'GET', headers: { Accept: 'application/json' }, isRepeatable: true };
  const answer = await send(
    { ...LIMITS, ...limits, session, fetch },
    { ...asked, url: `${url}/.well-known/openid-configuration` },
  );
  const known = await jsonIn<{ readonly local_pages_supported?: boolean }>(answer);
  if (known.local_pages_supported !== true) throw notRegistered(redirectUri);
};

export const notRegistered = (redirectUri: string): Problem =>
  new Problem({
    code: 'page_not_registered',
    status: 0,
    message: `Annals does not know this page: register it with \`annals client create Page --id page --redirect-uri ${redirectUri} --scope 'openid …'\`, and pass clientId: 'page'`,
  });
