import type { UserId } from '#shared/brands.ts';
import { ISSUER, type TestPerson } from './auth-world.ts';
import { startInstallation } from './installation.ts';
import { openPeople } from './installation-people.ts';
import { fetchWithCertificate } from './tls-fetch.ts';

/** The authorization server of an installation, known as ISSUER, reached over HTTP alone. */
export type AuthSite = AsyncDisposable & {
  /** As `fetch`, for URLs that begin with the issuer. */
  readonly fetch: typeof fetch;
  /** The same, with a client certificate; only where it speaks TLS. */
  fetchAs(pair: Parameters<typeof fetchWithCertificate>[1]): typeof fetch;
  registerClient(settings: object): Promise<SiteClient>;
  registerPerson(): Promise<TestPerson>;
};

export type SiteClient = { readonly clientId: string; readonly secret: string };

type Options = { readonly settings?: Readonly<Record<string, string>>; readonly tls?: boolean };

export const openAuthSite = async ({ settings = {}, tls = false }: Options = {}): Promise<AuthSite> => {
  await using opening = new AsyncDisposableStack();
  const installation = opening.use(await startInstallation({ settings: { PUBLIC_URL: ISSUER, ...settings }, tls }));
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
