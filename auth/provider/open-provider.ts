// Over 200 lines, because it is one thing: how oidc-provider is set up on our storage.

import type { RequestListener } from 'node:http';
import { type AdapterPayload, Provider } from 'oidc-provider';
import { readPersonalToken } from '#edge/authenticate/personal-tokens.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#process/config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { CheckPerson } from '#shared/persons/check-person.ts';
import { policyOf } from '#shared/policy.ts';
import { createReadAttributes } from '#shared/read-attributes.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { equipProvider } from '../accounts/equip-provider.ts';
import { providerPages } from '../accounts/provider-pages.ts';
import { noteExchange } from '../agents/agents.ts';
import { createNoteUse } from '../clients/client-uses.ts';
import type { Clients } from '../clients/clients.ts';
import { openScopesOf } from '../clients/open-scopes.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { followSigningKeys, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { createAdapterFactory } from '../storage/adapter.ts';
import type { StoredClient } from '../storage/client.ts';
import type { EndGrant } from '../storage/end-grants.ts';
import { createRecordSeal, type RecordSeal } from '../storage/seal-record.ts';
import { insertUsedOnce } from '../storage/statements.ts';
import type { FindPerson } from './account.ts';
import { createdAtMsOf, metadataOf } from './client-metadata.ts';
import type { ProviderSettings } from './configuration.ts';
import { createProvider, type ProviderDependencies } from './create-provider.ts';
import { createReadProfile } from './profile.ts';
import { createReadSubject } from './read-subject.ts';
import { createStructuredTokens } from './structured-tokens.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly config: Pick<
    Config,
    | 'issuerUrl'
    | 'publicUrl'
    | 'ingressSecret'
    | 'dpopNonce'
    | 'oauthProfile'
    | 'corsOrigins'
    | 'registration'
    | 'clientDocuments'
    | 'environment'
  >;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly codec: Codec;
  readonly masterKey: MasterKey;
  readonly log: Log;
  readonly clock: Clock;
  readonly persons: { readonly byId: FindPerson };
  readonly checkPerson: CheckPerson;
  readonly rowProofs: Pick<RowProofs, 'check'>;
  readonly clients: Pick<Clients, 'find' | 'verifySecret'>;
  readonly endGrant: EndGrant;
  readonly record: RecordSecurityEvent;
  readonly keysPollMs?: number | undefined;
};

type OpenProvider = AsyncDisposable & {
  /** For callers in this process: a stable object that survives a change of keys. */
  readonly provider: Provider;
  readonly handle: RequestListener;
  readonly keys: () => SigningKeys;
};

/** oidc-provider on our storage, with the current signing keys. */
export const openProvider = async (dependencies: Dependencies): Promise<OpenProvider> => {
  const {
    config,
    pool,
    masterKey,
    log,
    clock,
    clients,
    endGrant,
    record,
    keysPollMs,
    checkPerson,
    rowProofs,
  } = dependencies;
  const seal = createRecordSeal(masterKey);
  const noteUse = createNoteUse({ pool, log });
  const current = createCurrentProvider({
    settings: settingsOf(dependencies),
    adapter: createAdapterFactory({ pool, seal, endGrant, findClient: createFindClient(clients) }),
    tokensWith: (keys) =>
      createStructuredTokens({ pool, issuer: config.issuerUrl, resource: config.publicUrl, keys }),
    findPersonalToken: (token) =>
      readPersonalToken(
        {
          ...{ pool, policy: policyOf(dependencies.domain), checkPerson, rowProofs },
          readAttributes: createReadAttributes(dependencies),
        },
        token,
      ),
    verifySecret: clients.verifySecret,
    useOnce: onceIn(pool, seal),
    noteExchange: noteExchange({ pool, record }),
    equip: (provider) => {
      equipProvider(provider, { record, log });
      noteUses(provider, noteUse);
    },
    endGrant,
    log,
    clock,
  });
  const following = await followSigningKeys({
    pool,
    masterKey,
    log,
    clock,
    pollMs: keysPollMs,
    onKeys: current.use,
  });
  const { provider, handle, keys } = current;
  return { provider, handle, keys, [Symbol.asyncDispose]: () => following[Symbol.asyncDispose]() };
};

/** Whatever the grant is, and also for a refresh. */
const noteUses = (provider: Provider, noteUse: ReturnType<typeof createNoteUse>): void => {
  provider.on('grant.success', ({ oidc: { client } }) => {
    if (client) noteUse({ clientId: client.clientId, createdAtMs: createdAtMsOf(client) });
  });
};

/** Returns the same object until the client changes: `rememberClients` uses it as a cache key. */
const createFindClient = ({ find }: Pick<Clients, 'find'>) => {
  const metadata = oncePer((client: StoredClient): AdapterPayload => metadataOf(client));
  return async (clientId: string): Promise<AdapterPayload | undefined> => {
    const client = await find(clientId);
    return client === undefined || client.disabled ? undefined : metadata(client);
  };
};

const settingsOf = ({
  domain,
  config,
  pool,
  eventLog,
  codec,
  masterKey,
  persons,
  checkPerson,
}: Dependencies): ProviderSettings => ({
  issuer: config.issuerUrl,
  resource: config.publicUrl,
  apiScopes: policyOf(domain).scopes,
  agentScopes: openScopesOf(policyOf(domain)),
  masterKey,
  ingressSecret: config.ingressSecret,
  dpopNonce: config.dpopNonce,
  oauthProfile: config.oauthProfile,
  corsOrigins: config.corsOrigins,
  registrationUrl: config.registration === 'on' ? `${config.issuerUrl}/register` : undefined,
  hasClientDocuments: config.clientDocuments === 'any' || config.clientDocuments.size > 0,
  hasLocalPages: config.environment !== 'production',
  docsUrl: serves(domain, 'docs') ? `${config.publicUrl}/docs` : undefined,
  findPerson: persons.byId,
  readProfile: createReadProfile({ eventLog, codec }),
  domain,
  readAttributes: createReadAttributes({ domain, eventLog, codec }),
  readSubject: createReadSubject(pool, checkPerson),
  pages: providerPages,
});

const MS_PER_SECOND = 1_000;

const onceIn =
  (pool: Pool, seal: RecordSeal) =>
  (client: string, jti: string, expiresAtS: number): Promise<boolean> =>
    insertUsedOnce(
      pool,
      seal.hash('used once', `${client}\0${jti}`),
      Math.max(expiresAtS - Date.now() / MS_PER_SECOND, 1),
    );

/** The provider with the current keys. */
type CurrentProvider = {
  /** A stable object that delegates to the current provider. */
  readonly provider: Provider;
  readonly handle: RequestListener;
  readonly keys: () => SigningKeys;
  use(keys: SigningKeys): void;
};

type CurrentDependencies = Omit<ProviderDependencies, 'tokens'> & {
  tokensWith(keys: () => SigningKeys): ProviderDependencies['tokens'];
};

/** Requests in progress finish with the provider that they started with. */
const createCurrentProvider = ({ tokensWith, ...dependencies }: CurrentDependencies): CurrentProvider => {
  let current: { provider: Provider; handle: RequestListener; keys: SigningKeys } | undefined;
  const demand = () => {
    if (current === undefined) throw new Error('the provider was used before it had keys');
    return current;
  };
  const keys = () => demand().keys;
  const tokens = tokensWith(keys);
  return {
    provider: standIn(() => demand().provider),
    handle: (request, response) => demand().handle(request, response),
    keys,
    use(keys) {
      const provider = createProvider({ ...dependencies, tokens }, keys);
      current = { provider, handle: provider.callback(), keys };
    },
  };
};

/** A proxy for the current provider; its methods need the provider as `this`. */
const standIn = (provider: () => Provider): Provider =>
  new Proxy(Object.create(Provider.prototype) as Provider, {
    get(_, property) {
      const target = provider();
      const value: unknown = Reflect.get(target, property, target);
      return isMethod(property) && typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** The models are classes behind getters, and must not be bound. */
const isMethod = (property: string | symbol): boolean => {
  for (
    let prototype: object | null = Provider.prototype;
    prototype !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, property);
    if (descriptor !== undefined) return typeof descriptor.value === 'function';
  }
  return false;
};
