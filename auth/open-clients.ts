import { Provider } from 'oidc-provider';
import { networkOf } from '#edge/http/client-address.ts';
import type { Config } from '#process/config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { type Allowance, createAttempts } from './accounts/attempts.ts';
import { withConsole } from './clients/built-in.ts';
import { type Clients, createClients } from './clients/clients.ts';
import { withDocuments } from './clients/document-clients.ts';
import { warnOfOthers, withFapi } from './clients/fapi.ts';
import { openFetchDocument } from './clients/fetch-document.ts';
import { withLocalPages } from './clients/local-pages.ts';
import { withAccountClient } from './own-account/account-client.ts';

type Dependencies = Parameters<typeof createClients>[0] & {
  readonly config: Pick<
    Config,
    'publicUrl' | 'issuerUrl' | 'clientDocuments' | 'environment' | 'oauthProfile'
  > & {
    readonly webhooks: Pick<Config['webhooks'], 'guard'>;
  };
  readonly masterKey: MasterKey;
  readonly clock: Clock;
  readonly log: Log;
};

/** Each fetch keeps a connection for a moment, and its address is the choice of an anonymous request. */
const PER_ADDRESS: Allowance = { name: 'client-document-address', burst: 10, intervalMs: 10_000 };

const addressIn = ({ ip }: { readonly ip: string }): string => networkOf(ip) ?? 'unknown';

type RuledBy = Pick<Dependencies['config'], 'clientDocuments' | 'webhooks'>;

/** If strangers choose the address, it is public, whatever webhooks may reach. */
const rulesFor = ({ clientDocuments, webhooks }: RuledBy): GuardRules =>
  clientDocuments === 'any' ? { allowed: [], ports: new Set([HTTPS_PORT]) } : webhooks.guard;
const HTTPS_PORT = 443;

/**
 * All clients: those in the table, those that documents describe, pages in development, the console and the
 * account pages.
 */
export const openClients = async (
  dependencies: Dependencies,
): Promise<AsyncDisposable & { readonly clients: Clients }> => {
  const { domain, config, log } = dependencies;
  const isFapi = config.oauthProfile === 'fapi-2.0';
  const registered = createClients(dependencies);
  if (isFapi) await warnOfOthers(registered, log);
  const documents = openFetchDocument(rulesFor(config));
  const attempts = createAttempts(dependencies);
  const described = withDocuments(registered, {
    ...{ ...dependencies, documents },
    origins: config.clientDocuments,
    mayFetch: async () =>
      Provider.ctx === undefined || (await attempts.take(PER_ADDRESS, addressIn(Provider.ctx))).granted,
  });
  const known = config.environment === 'production' ? described : withLocalPages(described, domain);
  const allowed = isFapi ? withFapi(known) : known;
  return {
    clients: withAccountClient(withConsole(allowed, domain, config.publicUrl), config.issuerUrl),
    [Symbol.asyncDispose]: () => documents[Symbol.asyncDispose](),
  };
};
