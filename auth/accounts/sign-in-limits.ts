import type { Allowance, Attempts } from './attempts.ts';

/** Ten guesses of one account's password, then one a minute; the owner of the account has the same few tries meanwhile. */
const PER_ACCOUNT: Allowance = { name: 'sign-in-account', burst: 10, intervalMs: 60_000 };
/** A household or an office behind one address mistypes more often. */
const PER_ADDRESS: Allowance = { name: 'sign-in-address', burst: 50, intervalMs: 10_000 };

type Tried = { readonly emailHash: string; readonly address: string };

export type SignInLimits = {
  /**
   * To be asked before the password is looked at. It counts what was typed, whether or not there is such an account,
   * so that the answer does not tell.
   */
  admit(tried: Tried): Promise<Admitted>;
  succeeded(tried: Tried): Promise<void>;
};

type Admitted =
  | { readonly granted: true; readonly locksIfWrong: boolean; readonly attempts: number }
  | { readonly granted: false; readonly waitMs: number };

export const createSignInLimits = (attempts: Attempts): SignInLimits => ({
  async admit({ emailHash, address }) {
    const byAddress = await attempts.take(PER_ADDRESS, address);
    if (!byAddress.granted) return byAddress;
    const byAccount = await attempts.take(PER_ACCOUNT, emailHash);
    if (!byAccount.granted) return byAccount;
    return { granted: true, locksIfWrong: byAccount.isLast, attempts: PER_ACCOUNT.burst };
  },
  async succeeded({ emailHash, address }) {
    await attempts.giveBack(PER_ADDRESS, address);
    await attempts.forget(PER_ACCOUNT, emailHash);
  },
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
