import type { Allowance, Attempts } from './attempts.ts';

/** Ten guesses of one account's password, then one a minute; the owner of the account has the same few tries meanwhile. */
const PER_ACCOUNT: Allowance = { name: 'sign-in-account', burst: 10, intervalMs: 60_000 };
/** A household or an office behind one address mistypes more often. */
const PER_ADDRESS: Allowance = { name: 'sign-in-address', burst: 50, intervalMs: 10_000 };

/** Whose password was right has an app that shows another code each half minute: three of a million are good at any time. */
const CODES_PER_ACCOUNT: Allowance = { name: 'second-factor-account', burst: 10, intervalMs: 300_000 };

/** Of 80 bits nobody guesses one, so they are counted only to be told of: nobody who knows a password keeps its owner out. */
const RECOVERY_PER_ACCOUNT: Allowance = { name: 'recovery-code-account', burst: 10, intervalMs: 300_000 };
/** As long as it takes until as many codes as were guessed can be guessed again. */
const TOLD_PER_ACCOUNT: Allowance = { name: 'second-step-told', burst: 1, intervalMs: 10 * 300_000 };

/** The account by what nobody can read it from, or by number. */
type Tried = { readonly account: string; readonly address: string };

export type SignInLimits = {
  /**
   * To be asked before a password or a code is looked at. It counts what was typed, whether or not there is such an account,
   * so that the answer does not tell.
   */
  admit(tried: Tried): Promise<Admitted>;
  succeeded(tried: Tried): Promise<void>;
  /** The same where it is not known yet who comes. */
  admitAddress(address: string): Promise<AddressAdmitted>;
  succeededAt(address: string): Promise<void>;
};

type Admitted =
  | { readonly granted: true; readonly locksIfWrong: boolean; readonly attempts: number }
  | { readonly granted: false; readonly waitMs: number };

type AddressAdmitted = { readonly granted: true } | { readonly granted: false; readonly waitMs: number };

export const createSignInLimits = (attempts: Attempts): SignInLimits => limitsOf(attempts, PER_ACCOUNT);

/** Counted apart from passwords: who knows the password could clear those. */
export const createCodeLimits = (attempts: Attempts): SignInLimits => limitsOf(attempts, CODES_PER_ACCOUNT);

export const createRecoveryLimits = (attempts: Attempts): SignInLimits => ({
  ...limitsOf(attempts, RECOVERY_PER_ACCOUNT),
  async admit({ account, address }) {
    const byAddress = await attempts.take(PER_ADDRESS, address);
    if (!byAddress.granted) return byAddress;
    const byAccount = await attempts.take(RECOVERY_PER_ACCOUNT, account);
    return { granted: true, locksIfWrong: byAccount.granted && byAccount.isLast, attempts: RECOVERY_PER_ACCOUNT.burst };
  },
});

/** Whether the owner of an account has not been told for a while. */
export const mayTell = async (attempts: Attempts, account: string): Promise<boolean> =>
  (await attempts.take(TOLD_PER_ACCOUNT, account)).granted;

const limitsOf = (attempts: Attempts, perAccount: Allowance): SignInLimits => ({
  async admit({ account, address }) {
    const byAddress = await attempts.take(PER_ADDRESS, address);
    if (!byAddress.granted) return byAddress;
    const byAccount = await attempts.take(perAccount, account);
    if (!byAccount.granted) return byAccount;
    return { granted: true, locksIfWrong: byAccount.isLast, attempts: perAccount.burst };
  },
  async succeeded({ account, address }) {
    await attempts.giveBack(PER_ADDRESS, address);
    await attempts.forget(perAccount, account);
  },
  admitAddress: (address) => attempts.take(PER_ADDRESS, address),
  succeededAt: (address) => attempts.giveBack(PER_ADDRESS, address),
});

const SECOND_MS = 1_000;
const MINUTE_S = 60;

/** For the header `Retry-After`. */
export const waitSeconds = (waitMs: number): number => Math.max(Math.ceil(waitMs / SECOND_MS), 1);

/** For people. */
export const waitText = (waitMs: number): string => {
  const seconds = waitSeconds(waitMs);
  if (seconds <= MINUTE_S) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / MINUTE_S)} minutes`;
};
