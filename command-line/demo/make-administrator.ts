import { randomBytes } from 'node:crypto';
import { StartRefused } from '#shared/process/start-refused.ts';
import { createCredentials } from '../../auth/accounts/credentials.ts';
import { createPasswordResets, makeReset } from '../../auth/password-reset/password-reset.ts';
import { withAccounts } from '../accounts.ts';
import type { Terminal } from '../terminal.ts';
import { until } from './until.ts';

const PASSWORD_BYTES = 12;
/** The directory of the authorization server follows the log. */
const APPEARS_MS = 20_000;

/**
 * Gives somebody who has been registered a password by a link that is good once, as an operator does who helps them. Answers with the password, or
 * with undefined for who has one already.
 */
export const giveFirstPassword = (terminal: Terminal, email: string): Promise<string | undefined> =>
  withAccounts(terminal, async ({ persons, by, ...accounts }) => {
    const person = await until(() => persons.byEmail(email), APPEARS_MS);
    if (person === undefined)
      throw new StartRefused(
        `${email} is not in the database of these settings: set DATABASE_URL or DATA_DIR as the running system has them.`,
      );
    const credentials = await createCredentials(accounts.pool);
    if ((await credentials.changedAt(person.userId)) !== undefined) return undefined;
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    // Nobody was ever signed in without one.
    const resets = createPasswordResets({ ...accounts, recordOrFail: accounts.record, credentials, endGrantsOfUser: async () => {} });
    const isSet = await resets.use(await makeReset(accounts, { userId: person.userId, isMailed: false }, by), password, by.requestId);
    return isSet ? password : undefined;
  });
