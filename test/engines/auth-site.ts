import type { UserId } from '#kernel/base/brands.ts';
import type { People } from '../../testing/http/people.ts';
import { ISSUER, serviceClient, type TestPerson, webClient } from './auth-database.ts';
import type { Installation } from './installation.ts';
import { sharedTest } from './installation-fixture.ts';
import { fetchWithCertificate } from './tls-fetch.ts';

/** The authorization server of an installation, known as ISSUER, reached only over HTTP. */
type AuthSite = {
  /** Like `fetch`, for URLs that begin with the issuer. */
  readonly fetch: typeof fetch;
  /** The same, with a client certificate; only with TLS. */
  fetchAs(pair: Parameters<typeof fetchWithCertificate>[1]): typeof fetch;
  registerClient(settings: object): Promise<SiteClient>;
  registerPerson(): Promise<TestPerson>;
};

type SiteClient = { readonly clientId: string; readonly secret: string };

const siteOf = (installation: Installation, people: People): AuthSite => ({
  fetch: installation.fetch,
  fetchAs: (pair) => fetchWithCertificate(installation.origin, pair),
  registerClient: (wanted) => people.registerClient({ name: 'A client', ...wanted }),
  async registerPerson() {
    const { userId, email } = await people.signUp('Ada Lovelace');
    return { userId: userId as UserId, email };
  },
});

/** For suites that look only at their own data; the installation has everything that any of them needs. */
export const sharedAuthTest = sharedTest
  .extend('installationOptions', { scope: 'file' }, () => ({
    settings: { PUBLIC_URL: ISSUER, CORS_ORIGINS: 'https://friend.test', DPOP_NONCE: 'required' },
    tls: true,
  }))
  .extend('auth', { scope: 'file' }, ({ installation, people }) => siteOf(installation, people))
  .extend('web', { scope: 'file' }, ({ auth }) => auth.registerClient(webClient))
  .extend('service', { scope: 'file' }, ({ auth }) => auth.registerClient(serviceClient))
  .extend('person', { scope: 'file' }, ({ auth }) => auth.registerPerson());
