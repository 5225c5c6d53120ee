// Over 200 lines, because it is one thing: the commands for accounts at the machine.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { UserId } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { email as emailField } from '#kernel/base/values.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import type { Config } from '#process/config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createCodec } from '#shared/events/codec.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createEmailHash } from '#shared/persons/email-hash.ts';
import { openRowProofs } from '#shared/row-proofs/open.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { removeIdentitiesOf } from '../auth/identities/identities.ts';
import { makeInvitation } from '../auth/invitations/invitations.ts';
import { MailNotSent } from '../auth/mail/mail.ts';
import { signInMessage } from '../auth/mail/messages.ts';
import { resetLink } from '../auth/own-account/reset-routes.ts';
import { PATHS } from '../auth/pages/account/account-page.ts';
import { invitationLink } from '../auth/pages/invited-pages.ts';
import { removePasskeysOf } from '../auth/passkeys/passkeys.ts';
import { makeReset } from '../auth/password-reset/password-reset.ts';
import { migratePasswordResets } from '../auth/password-reset/reset-table.ts';
import { migrateAccounts, type Person, selectPersonByEmail } from '../auth/persons/person-table.ts';
import { createReadProfile, type ReadProfile } from '../auth/provider/profile.ts';
import { turnOffSecondFactor } from '../auth/second-factor/second-factors.ts';
import {
  createSecurityLog,
  type RecordSecurityEvent,
  type SecurityContext,
} from '../auth/security/security-log.ts';
import { createRecordSeal, type RecordSeal } from '../auth/storage/seal-record.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { openInstallation } from './installation/installation.ts';
import type { Terminal } from './terminal.ts';
import { untilIn } from './users/until.ts';

export const accountResetSecondFactor: Command = {
  name: 'account reset-second-factor',
  summary: 'Removes the second factor of an account whose owner has lost the app and the recovery codes.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['account reset-second-factor ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ persons, by, notify, ...accounts }) => {
      const person = await persons.at(email);
      if (!(await turnOffSecondFactor(accounts, person.userId, by)))
        throw new StartRefused(`${email} has no second factor.`);
      await terminal.write(`${email} signs in with the password alone until they set up codes again.`);
      terminal.complain(
        'Verify that the request came from this person: only the password protects the account now.',
      );
      await notify(
        person.userId,
        'An operator removed the codes from your account: its password is now enough to sign in.',
      );
    }),
};

export const accountRemovePasskeys: Command = {
  name: 'account remove-passkeys',
  summary: 'Removes all passkeys of an account.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['account remove-passkeys ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ persons, by, notify, ...accounts }) => {
      const person = await persons.at(email);
      if (!(await removePasskeysOf(accounts, person.userId, by)))
        throw new StartRefused(`${email} has no passkeys.`);
      await terminal.write(`Nobody can sign in as ${email} with a passkey any more.`);
      terminal.complain(
        'Existing sessions stay: choosing a new password through a link (password-link) ends them.',
      );
      await notify(person.userId, 'An operator removed all passkeys from your account.');
    }),
};

export const accountUnlink: Command = {
  name: 'account unlink',
  summary: 'Unlinks all accounts at identity providers from an account.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['account unlink ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ persons, by, notify, ...accounts }) => {
      const person = await persons.at(email);
      const unlinked = await removeIdentitiesOf(accounts, person.userId, by);
      if (unlinked === 0) throw new StartRefused(`${email} has no linked accounts.`);
      await terminal.write(`Nobody can sign in as ${email} with an identity provider any more.`);
      terminal.complain(
        'Existing sessions stay: choosing a new password through a link (password-link) ends them.',
      );
      await notify(
        person.userId,
        'An operator unlinked all accounts at identity providers from your account.',
      );
    }),
};

export const invite: Command = {
  name: 'invite',
  summary: 'Invites a user: prints a link to create an account, valid once within a week.',
  positionals: ['<e-mail>'],
  options: {
    role: {
      type: 'string',
      placeholder: '<role>',
      description: 'Role of the person; by default the role of self-registered users.',
    },
    until: {
      type: 'string',
      placeholder: '<day>',
      description: 'Last day of an auditor, in UTC, at most a year ahead; with --role auditor alone.',
    },
  },
  examples: [
    'invite ada@example.com',
    'invite grace@example.com --role admin',
    'invite alan@example.com --role auditor --until 2027-03-31',
  ],
  async run({ positionals: [email = ''], values }, terminal) {
    const roles = rolesOf(terminal.domain);
    const role = values.get('role')?.at(-1) ?? terminal.domain.signUp;
    if (!roles.includes(role)) throw new UsageError(`--role must be one of ${roles.join(', ')}`);
    if (!emailField.safeParse(email).success)
      throw new UsageError(`<e-mail> must be an e-mail address, but is “${email}”`);
    const until = untilIn(values, terminal, role);
    await withAccounts(terminal, async ({ config, by, ...accounts }) => {
      const link = await makeInvitation(accounts, { email, role, until }, by);
      if (link === undefined) throw new StartRefused(`${email} already has an account.`);
      await terminal.write(invitationLink(config.issuerUrl, link));
      terminal.complain('Send them the link: it is not shown again.');
    });
  },
};

export const passwordLink: Command = {
  name: 'password-link',
  summary: 'Prints a link to choose a new password, valid once within half an hour.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['password-link ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ config, persons, by, ...accounts }) => {
      const person = await persons.at(email);
      await terminal.write(
        resetLink(
          config.issuerUrl,
          await makeReset(accounts, { userId: person.userId, isMailed: false }, by),
        ),
      );
      terminal.complain(
        'Verify that the request came from this person, and send the link only to them: it is not shown again.',
      );
    }),
};

type Accounts = {
  readonly config: Config;
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly rowProofs: RowProofs;
  readonly clock: Clock;
  readonly emailHash: (email: string) => string;
  readonly persons: {
    byEmail(email: string): Promise<Person | undefined>;
    /** Refuses if nobody has the address. */
    at(email: string): Promise<Person>;
  };
  readonly record: RecordSecurityEvent;
  readonly by: SecurityContext;
  /** Notifies a user by mail of a change to how they sign in. Does nothing without mail or an address. */
  notify(userId: UserId, what: string): Promise<void>;
};

const CONNECTIONS_MAX = 2;

/** Changes accounts of the installation, running or not, as the operator. */
const withAccounts = async <Result>(
  terminal: Terminal,
  work: (accounts: Accounts) => Promise<Result>,
): Promise<Result> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: CONNECTIONS_MAX,
  });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  const log = pino({ level: 'silent' });
  const auditDir = config.audit.dir;
  const { clock } = terminal;
  const rowProofs = openRowProofs({ auditDir, pool, masterKey, clock, log });
  for (const migrate of [migrateAccounts, migratePasswordResets]) await migrate(pool);
  const codec = createCodec({ keys, domain: terminal.domain });
  const emailHash = createEmailHash(masterKey);
  const byEmail = (email: string) => selectPersonByEmail(pool, emailHash(email));
  // Awaited here, so that nothing is closed before it is done.
  return await work({
    config,
    pool,
    seal: createRecordSeal(masterKey),
    rowProofs,
    clock,
    emailHash,
    persons: {
      byEmail,
      async at(email) {
        const person = await byEmail(email);
        if (person === undefined) throw new StartRefused(`No account has the address ${email}.`);
        return person;
      },
    },
    record: createSecurityLog({ eventLog, codec, domain: terminal.domain }),
    by: { actor: 'system:command-line', client: null, requestId: randomUUID() },
    notify: (userId, what) =>
      notify({ config, terminal, readProfile: createReadProfile({ eventLog, codec }) }, userId, what),
  });
};

type Notifying = { readonly config: Config; readonly terminal: Terminal; readonly readProfile: ReadProfile };

const notify = async (
  { config, terminal, readProfile }: Notifying,
  userId: UserId,
  what: string,
): Promise<void> => {
  const { name, email } = await readProfile(userId);
  if (config.mail === undefined || email === undefined) return;
  // Loaded only if it is used.
  const { openSmtpMail } = await import('../auth/mail/smtp/smtp-mail.ts');
  await using mail = openSmtpMail(config.mail);
  await mail
    .send(signInMessage({ to: email, name, what, accountUrl: `${config.issuerUrl}${PATHS.home}` }))
    .catch((error: unknown) => {
      if (!(error instanceof MailNotSent)) throw error;
      terminal.complain('Done, but the mail about it could not be sent: inform the user yourself.');
    });
};
