import type { Allowance, Attempts } from './attempts.ts';

/**
 * Ten guesses of one account's password from one address, then one a minute. Other addresses have their own.
 */
const PER_PLACE: Allowance = { name: 'sign-in-place', burst: 10, intervalMs: 60_000 };
/**
 * All addresses together, so that many of them are no way around. Browsers in which the owner has signed in
 * before are not counted.
 */
const PER_ACCOUNT: Allowance = { name: 'sign-in-account', burst: 100, intervalMs: 60_000 };
/** Of one account in a browser in which its owner has signed in before. */
const PER_DEVICE: Allowance = { name: 'sign-in-device', burst: 10, intervalMs: 60_000 };
/** A household or an office behind one address mistypes more often. */
const PER_ADDRESS: Allowance = { name: 'sign-in-address', burst: 50, intervalMs: 10_000 };

/**
 * Whose password was right has an app that shows another code each half minute: three of a million are good
 * at any time.
 */
const CODES_PER_ACCOUNT: Allowance = { name: 'second-factor-account', burst: 10, intervalMs: 300_000 };
const CODES_PER_DEVICE: Allowance = { name: 'second-factor-device', burst: 10, intervalMs: 300_000 };

/**
 * Of 80 bits nobody guesses one, so they are counted only to be told of: nobody who knows a password keeps
 * its owner out.
 */
const RECOVERY_PER_ACCOUNT: Allowance = { name: 'recovery-code-account', burst: 10, intervalMs: 300_000 };
/** As long as it takes until as many codes as were guessed can be guessed again. */
const TOLD_PER_ACCOUNT: Allowance = { name: 'second-step-told', burst: 1, intervalMs: 10 * 300_000 };

/**
 * The account by what nobody can read it from, or by number; the browser where its owner is known to have
 * signed in with it.
 */
type Tried = { readonly account: string; readonly address: string; readonly device: string | undefined };

export type SignInLimits = {
  /**
   * To be asked before a password or a code is looked at. It counts what was typed, whether or not there is
   * such an account, so that the answer does not tell.
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

export const createSignInLimits = (attempts: Attempts): SignInLimits =>
  limitsOf(attempts, { perDevice: PER_DEVICE, perPlace: PER_PLACE, perAccount: PER_ACCOUNT });

/**
 * Counted apart from passwords: who knows the password could clear those. Codes are so few that no address
 * has tries of its own.
 */
export const createCodeLimits = (attempts: Attempts): SignInLimits =>
  limitsOf(attempts, { perDevice: CODES_PER_DEVICE, perAccount: CODES_PER_ACCOUNT });

export const createRecoveryLimits = (attempts: Attempts): SignInLimits => ({
  ...limitsOf(attempts, { perDevice: RECOVERY_PER_ACCOUNT, perAccount: RECOVERY_PER_ACCOUNT }),
  async admit({ account, address }) {
    const byAddress = await attempts.take(PER_ADDRESS, address);
    if (!byAddress.granted) return byAddress;
    const byAccount = await attempts.take(RECOVERY_PER_ACCOUNT, account);
    return {
      granted: true,
      locksIfWrong: byAccount.granted && byAccount.isLast,
      attempts: RECOVERY_PER_ACCOUNT.burst,
    };
  },
  async succeeded({ account, address }) {
    await attempts.giveBack(PER_ADDRESS, address);
    await attempts.forget(RECOVERY_PER_ACCOUNT, account);
  },
});

/** Whether the owner of an account has not been told for a while. */
export const mayTell = async (attempts: Attempts, account: string): Promise<boolean> =>
  (await attempts.take(TOLD_PER_ACCOUNT, account)).granted;

type Allowances = {
  readonly perDevice: Allowance;
  readonly perPlace?: Allowance;
  readonly perAccount: Allowance;
};
type Counted = { readonly allowance: Allowance; readonly subject: string };

/**
 * What a try is counted under, the narrowest first. A known browser has tries of its own, whatever others do
 * to the account.
 */
const countedOf = (
  { perDevice, perPlace, perAccount }: Allowances,
  { account, address, device }: Tried,
): readonly Counted[] => {
  if (device !== undefined) return [{ allowance: perDevice, subject: `${account} ${device}` }];
  const place = perPlace && { allowance: perPlace, subject: `${account} ${address}` };
  return [...(place === undefined ? [] : [place]), { allowance: perAccount, subject: account }];
};

const limitsOf = (attempts: Attempts, allowances: Allowances): SignInLimits => ({
  async admit(tried) {
    const byAddress = await attempts.take(PER_ADDRESS, tried.address);
    if (!byAddress.granted) return byAddress;
    let locking: Allowance | undefined;
    for (const { allowance, subject } of countedOf(allowances, tried)) {
      const taken = await attempts.take(allowance, subject);
      if (!taken.granted) return taken;
      if (taken.isLast) locking ??= allowance;
    }
    return { granted: true, locksIfWrong: locking !== undefined, attempts: locking?.burst ?? 0 };
  },
  async succeeded(tried) {
    await attempts.giveBack(PER_ADDRESS, tried.address);
    const [narrowest, ...wider] = countedOf(allowances, tried);
    if (narrowest !== undefined) await attempts.forget(narrowest.allowance, narrowest.subject);
    // Those who guess elsewhere get nothing back by it.
    for (const { allowance, subject } of wider) await attempts.giveBack(allowance, subject);
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
