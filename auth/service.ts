import type { RequestListener } from 'node:http';
import { Router } from 'express';
import type { LoadKeys } from '#edge/authenticate/keys.ts';
import { protectedResourceRoutes } from '#edge/authenticate/protected-resource.ts';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import type { FastPath } from '#edge/http/fast-path.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import type { Foundation } from '#process/foundation.ts';
import { signUpRoleOf } from '#process/sign-up-role.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { createCodec } from '#shared/events/codec.ts';
import { createReleasedCodec } from '#shared/events/released-codec.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';
import { createCheckPerson } from '#shared/persons/check-person.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { policyOf } from '#shared/policy.ts';
import { createReadAttributes } from '#shared/read-attributes.ts';
import { startGivingProofs } from '#shared/row-proofs/give-proofs.ts';
import { accountRoutes } from './account-routes.ts';
import { createAttempts } from './accounts/attempts.ts';
import { type Credentials, createCredentials } from './accounts/credentials.ts';
import { migrateClients } from './clients/client-table.ts';
import type { Clients } from './clients/clients.ts';
import { logNewScopes } from './clients/new-scopes.ts';
import { registrationRoutes } from './clients/registration.ts';
import { clientRoutes } from './clients/routes.ts';
import { openDirectory, type Persons } from './directory.ts';
import { GRANTING_TABLES } from './granting-tables.ts';
import { startAddressNotices } from './mail/address-notices.ts';
import type { Mail } from './mail/mail.ts';
import { createPost } from './mail/post.ts';
import { openClients } from './open-clients.ts';
import { migratePasswordResets } from './password-reset/reset-table.ts';
import { recordEndedGrant } from './provider/ended-grants.ts';
import { openProvider } from './provider/open-provider.ts';
import { createReadProfile } from './provider/profile.ts';
import { publicKeysOf } from './provider/public-keys.ts';
import { providerFastPath, providerRoutes, TOKENS_CHECKED_HERE } from './provider/routes.ts';
import { createSecurityLog, type RecordSecurityEvent } from './security/security-log.ts';
import { ensureSigningKey, hasSigningKey } from './signing-keys/signing-keys.ts';
import { migrateSigningKeys } from './signing-keys/statements.ts';
import { startCleanUp } from './storage/clean-up.ts';
import { createGrantEnder, type GrantEnder } from './storage/end-grants.ts';
import { createKeyedWrites, type KeyedWrites } from './storage/keyed-writes.ts';
import { createRecordSeal } from './storage/seal-record.ts';
import { migrateAuthStorage } from './storage/statements.ts';

/** The service's dependencies. The caller owns them, and they outlive the service. */
type AuthDependencies = Pick<
  Foundation,
  'domain' | 'clock' | 'pool' | 'eventLog' | 'keys' | 'masterKey' | 'rowProofs' | 'metrics' | 'erasures'
> & {
  readonly config: AuthConfig;
  readonly log: Log;
  readonly gateway: CommandGateway;
  /** Undefined if no mail is set up. */
  readonly mail?: Mail | undefined;
  /** How often the signing keys are polled. */
  readonly keysPollMs?: number;
};

type AuthConfig = Pick<
  Config,
  | 'environment'
  | 'issuerUrl'
  | 'publicUrl'
  | 'ingressSecret'
  | 'dpopNonce'
  | 'oauthProfile'
  | 'corsOrigins'
  | 'registration'
  | 'clientDocuments'
  | 'signUp'
  | 'limits'
> & { readonly webhooks: Pick<Config['webhooks'], 'guard'>; readonly upstreams?: Config['upstreams'] };

export type AuthService = AsyncDisposable & {
  /** Mounted last, at the root. */
  readonly routes: Router;
  /** For the most frequent endpoints. */
  readonly fastPath: FastPath;
  readonly clients: Clients;
  readonly persons: Persons;
  readonly credentials: Credentials;
  readonly record: RecordSecurityEvent;
  /** For a resource server in the same process. */
  readonly loadKeys: LoadKeys;
  readonly elsewhere: ReadonlySet<string>;
} & GrantEnder;

/** Starts the authorization server: it issues tokens, and manages accounts and clients. */
export const startAuthService = async (dependencies: AuthDependencies): Promise<AuthService> => {
  const { pool, eventLog, log, clock, config, mail } = dependencies;
  await migrateTables(dependencies);
  await logNewScopes({ pool, scopes: policyOf(dependencies.domain).scopes, log });
  await using opening = new AsyncDisposableStack();
  const codec = createReleasedCodec(createCodec(dependencies), pool);
  const record = createSecurityLog({ ...dependencies, codec });
  const onEnded = recordEndedGrant({ record, log });
  const ender = createGrantEnder({ pool, onEnded });
  const post = opening.use(createPost({ mail, log }));
  const readProfile = createReadProfile({ eventLog, codec });
  // Before the directory starts: it begins at the directory's checkpoint.
  if (mail !== undefined) opening.use(await startAddressNotices({ ...dependencies, mail, readProfile }));
  const readPerson = createReadPerson({ ...dependencies, codec });
  const checkPerson = createCheckPerson({ readPerson, clock, log });
  const persons = opening.use(
    await openDirectory({ ...dependencies, checkPerson, revokeUser: ender.endGrantsOfUser }),
  );

  const { clients } = opening.use(await openClients({ ...dependencies, persons, record, onEnded }));
  const provider = opening.use(
    await openProvider({
      ...dependencies,
      ...{ codec, persons, clients, checkPerson, record },
      endGrant: ender.endGrant,
    }),
  );
  opening.use(startCleanUp({ pool, log, clock }));
  opening.use(await startGivingProofs({ ...dependencies, tables: GRANTING_TABLES }));
  const credentials = await createCredentials(dependencies);
  const keyedWrites = createKeyedWrites({ pool, seal: createRecordSeal(dependencies.masterKey) });
  const accounts = accountRoutes({
    ...dependencies,
    upstreams: await loadUpstreams(dependencies),
    keyedWrites,
    signingKeys: provider.keys,
    ...ender,
    post,
    issuerUrl: config.issuerUrl,
    signUp: signUpRoleOf(dependencies.domain, config.signUp),
    provider: provider.provider,
    clients,
    persons,
    credentials,
    record,
    readProfile,
    readAttributes: createReadAttributes({ ...dependencies, codec }),
    readPerson,
  });
  const server = { handle: provider.handle, issuer: config.issuerUrl };
  const resources = opening.move();
  return {
    ...ender,
    routes: authRoutes({ ...dependencies, ...server, clients, accounts, keyedWrites }),
    fastPath: providerFastPath(server),
    clients,
    persons,
    credentials,
    record,
    loadKeys: async () => publicKeysOf(provider.keys()),
    elsewhere: TOKENS_CHECKED_HERE,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Few installations have any. */
const loadUpstreams = async ({ config: { upstreams = [] }, ...dependencies }: AuthDependencies) => {
  if (upstreams.length === 0) return undefined;
  const { openUpstreams } = await loadEngine('UPSTREAMS', () => import('./upstream/open.ts'));
  return openUpstreams({ ...dependencies, upstreams });
};

type RouteParts = AuthDependencies & {
  readonly handle: RequestListener;
  readonly issuer: string;
  readonly clients: Clients;
  readonly accounts: Router;
  readonly keyedWrites: KeyedWrites;
};

const authRoutes = (parts: RouteParts): Router => {
  const { domain, config, accounts } = parts;
  return Router()
    .use(clientRoutes({ ...parts, bodyBytesMax: config.limits.bodyBytesMax }))
    .use(
      config.registration === 'on'
        ? registrationRoutes({ ...parts, attempts: createAttempts(parts) })
        : Router(),
    )
    .use(accounts)
    .use(providerRoutes(parts))
    .use(protectedResourceRoutes({ domain, issuer: config.issuerUrl, resource: config.publicUrl }));
};

const migrateTables = async ({ pool, masterKey, config }: AuthDependencies): Promise<void> => {
  await migrateRevocations(pool);
  await migrateAuthStorage(pool);
  await migrateSigningKeys(pool);
  await migrateClients(pool);
  await migratePasswordResets(pool);
  if (config.environment !== 'production') await ensureSigningKey({ pool, masterKey });
  else if (!(await hasSigningKey(pool))) throw new StartRefused(NO_SIGNING_KEY);
};

const NO_SIGNING_KEY =
  'There is no key to sign tokens with, and production does not create one by itself: create it with `npm run annals -- keys rotate`.';
