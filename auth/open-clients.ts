import type { Config } from '#process/config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { withConsole } from './clients/built-in.ts';
import { type Clients, createClients } from './clients/clients.ts';
import { withDocuments } from './clients/document-clients.ts';
import { openFetchDocument } from './clients/fetch-document.ts';
import { withAccountClient } from './own-account/account-client.ts';

type Dependencies = Parameters<typeof createClients>[0] & {
  readonly config: Pick<Config, 'publicUrl' | 'issuerUrl' | 'clientDocuments'> & {
    readonly webhooks: Pick<Config['webhooks'], 'guard'>;
  };
  readonly clock: Clock;
  readonly log: Log;
};

/** All clients: those in the table, those that documents describe, the console and the account pages. */
export const openClients = (dependencies: Dependencies): AsyncDisposable & { readonly clients: Clients } => {
  const { domain, config } = dependencies;
  const documents = openFetchDocument(config.webhooks.guard);
  const registered = createClients(dependencies);
  const described = withDocuments(registered, {
    ...{ ...dependencies, documents },
    origins: config.clientDocuments,
  });
  return {
    clients: withAccountClient(withConsole(described, domain, config.publicUrl), config.issuerUrl),
    [Symbol.asyncDispose]: () => documents[Symbol.asyncDispose](),
  };
};
