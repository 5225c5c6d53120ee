import type { UserId } from '#shared/brands.ts';
import { openPeople } from '../../testing/people.ts';
import { ISSUER, type TestPerson } from './auth-database.ts';
import { type Installation, shareInstallation } from './installation.ts';
import { fetchWithCertificate } from './tls-fetch.ts';

/** The authorization server of an installation, known as ISSUER, reached only over HTTP. */
export type AuthSite = AsyncDisposable & {
  /** Like `fetch`, for URLs that begin with the issuer. */
  readonly fetch: typeof fetch;
  /** The same, with a client certificate; only with TLS. */
  fetchAs(pair: Parameters<typeof fetchWithCertificate>[1]): typeof fetch;
  registerClient(settings: object): Promise<SiteClient>;
  registerPerson(): Promise<TestPerson>;
};

export type SiteClient = { readonly clientId: string; readonly secret: string };

/** For suites that look only at their own data; it has everything that any of them needs. */
export const shareAuthSite = async (): Promise<AuthSite> =>
  siteOf(
    await shareInstallation({
      settings: { PUBLIC_URL: ISSUER, CORS_ORIGINS: 'https://friend.test', DPOP_NONCE: 'required' },
      tls: true,
    }),
  );

const siteOf = async (installation: Installation): Promise<AuthSite> => {
  await using opening = new AsyncDisposableStack();
  opening.use(installation);
  const people = await openPeople(installation);
  const resources = opening.move();
  return {
    fetch: installation.fetch,
    fetchAs: (pair) => fetchWithCertificate(installation.origin, pair),
    registerClient: (wanted) => people.registerClient({ name: 'A client', ...wanted }),
    async registerPerson() {
      const { userId, email } = await people.signUp('Ada Lovelace');
      return { userId: userId as UserId, email };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
