import { randomUUID } from 'node:crypto';
import type { UserId } from '#shared/brands.ts';
import type { Config } from '#shared/config.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createCodec } from '#shared/events/codec.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { createEmailHash } from '../auth/accounts/email-hash.ts';
import { migrateAccounts, type Person, selectPersonByEmail } from '../auth/accounts/person-table.ts';
import { MailNotSent } from '../auth/mail/mail.ts';
import { signInMessage } from '../auth/mail/messages.ts';
import { PATHS } from '../auth/pages/account/account-page.ts';
import { migratePasswordResets } from '../auth/password-reset/reset-table.ts';
import { createReadProfile, type ReadProfile } from '../auth/provider/profile.ts';
import { createSecurityLog, type RecordSecurityEvent, type SecurityCircumstances } from '../auth/security-log.ts';
import { createRecordSeal, type RecordSeal } from '../auth/storage/seal-record.ts';
import { openInstallation } from './installation.ts';
import type { Terminal } from './terminal.ts';

export type Accounts = {
  readonly config: Config;
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly emailHash: (email: string) => string;
  readonly persons: {
    byEmail(email: string): Promise<Person | undefined>;
    /** Refuses where nobody has the address. */
    at(email: string): Promise<Person>;
  };
  readonly record: RecordSecurityEvent;
  readonly by: SecurityCircumstances;
  /** Tells somebody by mail that how they sign in was changed; without mail there, or an address, nobody is told. */
  tell(userId: UserId, what: string): Promise<void>;
};

const CONNECTIONS_MAX = 2;

/** Does something about who may sign in to the installation, running or not, as the operator. */
export const withAccounts = async <Result>(terminal: Terminal, work: (accounts: Accounts) => Promise<Result>): Promise<Result> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  for (const migrate of [migrateAccounts, migratePasswordResets]) await migrate(pool);
  const codec = createCodec({ keys, domain: terminal.domain });
  const emailHash = createEmailHash(masterKey);
  const byEmail = (email: string) => selectPersonByEmail(pool, emailHash(email));
  // Awaited here, so that nothing is closed before it is done.
  return await work({
    config,
    pool,
    seal: createRecordSeal(masterKey),
    emailHash,
    persons: {
      byEmail,
      async at(email) {
        const person = await byEmail(email);
        if (person === undefined) throw new StartRefused(`Nobody has the address ${email}.`);
        return person;
      },
    },
    record: createSecurityLog({ eventLog, codec, domain: terminal.domain }),
    by: { actor: 'system:command-line', client: null, requestId: randomUUID() },
    tell: (userId, what) => tell({ config, terminal, readProfile: createReadProfile({ eventLog, codec }) }, userId, what),
  });
};

type Telling = { readonly config: Config; readonly terminal: Terminal; readonly readProfile: ReadProfile };

const tell = async ({ config, terminal, readProfile }: Telling, userId: UserId, what: string): Promise<void> => {
  const { name, email } = await readProfile(userId);
  if (config.mail === undefined || email === undefined) return;
  // Loaded only where it is used.
  const { openSmtpMail } = await import('../auth/mail/smtp/smtp-mail.ts');
  await using mail = openSmtpMail(config.mail);
  await mail.send(signInMessage({ to: email, name, what, accountUrl: `${config.issuerUrl}${PATHS.home}` })).catch((error: unknown) => {
    if (!(error instanceof MailNotSent)) throw error;
    terminal.complain('It is done, but the mail that tells them of it could not be sent: tell them yourself.');
  });
};
