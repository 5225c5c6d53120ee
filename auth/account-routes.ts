// Over 200 lines, because it is one composition: all pages of accounts, with what each needs.
import { Router } from 'express';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { hasSigned } from '#kernel/registry/signed.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { createEmailHash } from '#shared/persons/email-hash.ts';
import type { ReadPerson } from '#shared/persons/read-person.ts';
import type { ReadAttributes } from '#shared/read-attributes.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createSignatures } from '#shared/signatures/signatures.ts';
import { createAttempts } from './accounts/attempts.ts';
import { consentRoutes } from './accounts/consent-routes.ts';
import type { Credentials } from './accounts/credentials.ts';
import { deviceGuesses } from './accounts/device-guesses.ts';
import { createFormCookie } from './accounts/form-cookie.ts';
import type { InteractionDependencies } from './accounts/interaction.ts';
import { createKnownDevices } from './accounts/known-devices.ts';
import { answerPageErrors } from './accounts/page-refusal.ts';
import { createPendingSignUps } from './accounts/pending-sign-ups.ts';
import { createCodeLimits, createRecoveryLimits, createSignInLimits } from './accounts/sign-in-limits.ts';
import { signInRoutes } from './accounts/sign-in-routes.ts';
import { signUpRoutes } from './accounts/sign-up-routes.ts';
import { createAgents } from './agents/agents.ts';
import type { Persons } from './directory.ts';
import { createIdentities } from './identities/identities.ts';
import { createInvitations } from './invitations/invitations.ts';
import { notifyOfChange } from './mail/notify-of-change.ts';
import type { Post } from './mail/post.ts';
import { managedAccountRoutes } from './managed-accounts/routes.ts';
import { applications } from './own-account/applications.ts';
import { confirmation } from './own-account/confirmation.ts';
import { data } from './own-account/data.ts';
import { deletion, erasedRoutes } from './own-account/deletion.ts';
import type { OwnAccountDependencies } from './own-account/dependencies.ts';
import { invitations } from './own-account/invitations.ts';
import { invitedRoutes } from './own-account/invited-routes.ts';
import { home, security } from './own-account/overview.ts';
import { type AccountPage, routesOf, signedInRoutes } from './own-account/pages.ts';
import { passkeys } from './own-account/passkeys.ts';
import { password } from './own-account/password.ts';
import { profile } from './own-account/profile.ts';
import { resetRoutes } from './own-account/reset-routes.ts';
import { recoveryCodes, secondFactor } from './own-account/second-factor.ts';
import { sessions } from './own-account/sessions.ts';
import { signature } from './own-account/signature.ts';
import { tokens } from './own-account/tokens.ts';
import { createFormTokens } from './pages/form-token.ts';
import { PAGE_PATHS } from './pages/page-paths.ts';
import { copyScript, passkeyScript } from './pages/page-script.ts';
import { relyingPartyOf } from './passkeys/ceremony.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { createPasswordResets } from './password-reset/password-reset.ts';
import { openPartsOf } from './person-export/open-parts.ts';
import { createPersonExports } from './person-export/person-exports.ts';
import { personExportRoutes } from './person-export/routes.ts';
import { createOwnTokens } from './personal-tokens/personal-tokens.ts';
import { personalTokenRoutes } from './personal-tokens/routes.ts';
import type { ReadProfile } from './provider/profile.ts';
import { speakAsIssuer } from './provider/speak-as-issuer.ts';
import { createSecondFactors } from './second-factor/second-factors.ts';
import { type RecordSecurityEvent, recordAfterwards } from './security/security-log.ts';
import type { SigningKeys } from './signing-keys/signing-keys.ts';
import { createEndAccess } from './storage/end-access.ts';
import { readAllowedClients } from './storage/grants.ts';
import type { KeyedWrites } from './storage/keyed-writes.ts';
import { createRecordSeal } from './storage/seal-record.ts';
import { createSessions } from './storage/sessions.ts';
import { createTickets } from './storage/tickets.ts';
import type { Upstreams } from './upstream/open.ts';

type AccountDependencies = InteractionDependencies & {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly erasures: Pick<ErasureList, 'read' | 'path'>;
  readonly masterKey: MasterKey;
  readonly gateway: CommandGateway;
  readonly persons: Persons;
  readonly credentials: Credentials;
  readonly signUp: 'off' | Role;
  readonly record: RecordSecurityEvent;
  readonly readProfile: ReadProfile;
  readonly readAttributes: ReadAttributes;
  readonly readPerson: ReadPerson;
  readonly rowProofs: RowProofs;
  readonly post: Post;
  readonly log: Log;
  readonly keys: KeyStore;
  readonly keyedWrites: KeyedWrites;
  readonly signingKeys: () => SigningKeys;
  /** Undefined if people sign in here alone. */
  readonly upstreams: Upstreams | undefined;
  endGrantsOfUser(userId: number): Promise<void>;
};

/** The pages of accounts, mounted before oidc-provider. */
export const accountRoutes = (dependencies: AccountDependencies): Router => {
  const { pool, masterKey, issuerUrl, log } = dependencies;
  const attempts = createAttempts({ pool, masterKey });
  const seal = createRecordSeal(masterKey);
  const audited = {
    ...dependencies,
    record: recordAfterwards(dependencies),
    recordOrFail: dependencies.record,
    seal,
  };
  const shared = {
    ...dependencies,
    attempts,
    seal,
    tickets: createTickets({ pool, seal, clock: dependencies.clock }),
    pending: createPendingSignUps({ pool, seal }),
    passkeys: createPasskeys({
      ...audited,
      rp: relyingPartyOf(issuerUrl),
      onRefused: (userId) => notifyOfChange(audited, { userId }, COPIED, 'A passkey was refused'),
    }),
    identities: createIdentities(audited),
    hasUpstreams: dependencies.upstreams !== undefined,
    upstreamNames: dependencies.upstreams?.names ?? [],
    secondFactors: createSecondFactors(audited),
    ownTokens: createOwnTokens(audited),
    agents: createAgents(audited),
    codeLimits: createCodeLimits(attempts),
    signatures: createSignatures(dependencies),
    recoveryLimits: createRecoveryLimits(attempts),
    tokens: createFormTokens(masterKey),
    limits: createSignInLimits(attempts),
    devices: createKnownDevices(dependencies),
    emailHash: createEmailHash(masterKey),
    cookie: createFormCookie(issuerUrl),
    isSignUpOpen: dependencies.signUp !== 'off',
  };
  const { upstreams } = dependencies;
  return Router()
    .use(passkeyScript.routes(), copyScript.routes(), personalTokenRoutes(shared))
    .use(
      signUpRoutes(shared),
      signInRoutes({ ...shared, elsewhere: upstreams?.elsewhere(shared) }),
      consentRoutes(shared),
      deviceGuesses(attempts),
      ownAccountRoutes({ ...shared, ...audited }),
    )
    .use([...PAGE_PATHS], answerPageErrors(log));
};

const COPIED =
  'Somebody tried to sign in with a copy of one of your passkeys, and was refused. Find the passkey that you did not use yourself, and remove it.';

/**
 * The pages under `/account`: for signed-in persons, for the recovery of an account, and for invited persons.
 */
const ownAccountRoutes = (given: OwnAccountParts): Router => {
  const dependencies: OwnAccountDependencies = {
    ...given,
    sessions: createSessions(given),
    readAllowedClients: readAllowedClients(given),
    endAccess: createEndAccess(given),
    resets: createPasswordResets(given),
    invitations: createInvitations(given),
    exports: createPersonExports({ ...given, open: openPartsOf(given) }),
  };
  const all = hasSigned(given.domain) ? [...PAGES, signature] : PAGES;
  const pages: readonly AccountPage[] = all.map((page) => page(dependencies));
  return Router()
    .use(managedAccountRoutes(dependencies), personExportRoutes(dependencies))
    .use('/account', speakAsIssuer(dependencies.issuerUrl))
    .use(signedInRoutes(), resetRoutes(dependencies), invitedRoutes(dependencies), erasedRoutes(dependencies))
    .use(pages.map((page) => routesOf(dependencies, page)))
    .use(given.upstreams?.accountRoutes({ ...dependencies, log: given.log }) ?? Router());
};

const PAGES = [
  home,
  profile,
  security,
  confirmation,
  password,
  passkeys,
  secondFactor,
  recoveryCodes,
  applications,
  tokens,
  sessions,
  invitations,
  data,
  deletion,
] as const;

type OwnAccountParts = Omit<
  OwnAccountDependencies,
  'sessions' | 'readAllowedClients' | 'endAccess' | 'resets' | 'invitations' | 'exports'
> & { readonly log: Log; readonly keys: KeyStore; readonly upstreams: Upstreams | undefined };
