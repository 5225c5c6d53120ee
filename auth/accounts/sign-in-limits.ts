import type { Allowance, Attempts } from './attempts.ts';

/**
 * Ten guesses of one account's password from one address, then one a minute. Each address has its own
 * allowance.
 */
const PER_PLACE: Allowance = { name: 'sign-in-place', burst: 10, intervalMs: 60_000 };
/**
 * For all addresses together, so that many addresses cannot evade the limit. Known browsers of the owner are
 * not counted.
 */
const PER_ACCOUNT: Allowance = { name: 'sign-in-account', burst: 100, intervalMs: 60_000 };
/** For one account in a browser in which its owner has signed in before. */
const PER_DEVICE: Allowance = { name: 'sign-in-device', burst: 10, intervalMs: 60_000 };
/** Higher, because a household or an office shares one address. */
const PER_ADDRESS: Allowance = { name: 'sign-in-address', burst: 50, intervalMs: 10_000 };

/**
 * An attacker who knows the password guesses codes that change each half minute; three of a million are valid
 * at any time.
 */
const CODES_PER_ACCOUNT: Allowance = { name: 'second-factor-account', burst: 10, intervalMs: 300_000 };
const CODES_PER_DEVICE: Allowance = { name: 'second-factor-device', burst: 10, intervalMs: 300_000 };

/**
 * Nobody guesses one of 80 bits. They are counted only to warn the owner: an attacker who knows the password
 * must not lock the owner out.
 */
const RECOVERY_PER_ACCOUNT: Allowance = { name: 'recovery-code-account', burst: 10, intervalMs: 300_000 };
/** The time after which as many codes can be guessed again. */
const NOTICES_PER_ACCOUNT: Allowance = { name: 'second-step-notified', burst: 1, intervalMs: 10 * 300_000 };

/** The account, as a keyed hash or by id; the browser, if its owner is known to have signed in with it. */
type Tried = { readonly account: string; readonly address: string; readonly device: string | undefined };

export type SignInLimits = {
  /**
   * Call it before checking a password or a code. It counts the typed address, whether or not there is such
   * an account, so that the answer does not reveal it.
   */
  admit(tried: Tried): Promise<Admitted>;
  succeeded(tried: Tried): Promise<void>;
  /** The same if the account is not known yet. */
  admitAddress(address: string): Promise<AddressAdmitted>;
  succeededAt(address: string): Promise<void>;
};

type Admitted =
  | { readonly granted: true; readonly locksIfWrong: boolean; readonly attempts: number }
  | { readonly granted: false; readonly waitMs: number };

type AddressAdmitted = { readonly granted: true } | { readonly granted: false; readonly waitMs: number };

export const createSignInLimits = (attempts: Attempts): SignInLimits =>
  limitsBy(attempts, { perDevice: PER_DEVICE, perPlace: PER_PLACE, perAccount: PER_ACCOUNT });

/**
 * Counted separately from passwords, because an attacker who knows the password could reset those. There are
 * so few codes that an address has no allowance of its own.
 */
export const createCodeLimits = (attempts: Attempts): SignInLimits =>
  limitsBy(attempts, { perDevice: CODES_PER_DEVICE, perAccount: CODES_PER_ACCOUNT });

export const createRecoveryLimits = (attempts: Attempts): SignInLimits => ({
  ...limitsBy(attempts, { perDevice: RECOVERY_PER_ACCOUNT, perAccount: RECOVERY_PER_ACCOUNT }),
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

/** Returns whether the last warning to the owner of an account was long enough ago. */
export const mayNotify = async (attempts: Attempts, account: string): Promise<boolean> =>
  (await attempts.take(NOTICES_PER_ACCOUNT, account)).granted;

type Allowances = {
  readonly perDevice: Allowance;
  readonly perPlace?: Allowance;
  readonly perAccount: Allowance;
};
type Counted = { readonly allowance: Allowance; readonly subject: string };

/**
 * The allowances that an attempt counts against, the narrowest first. A known browser has its own, whatever
 * others do to the account.
 */
const countedOf = (
  { perDevice, perPlace, perAccount }: Allowances,
  { account, address, device }: Tried,
): readonly Counted[] => {
  if (device !== undefined) return [{ allowance: perDevice, subject: `${account} ${device}` }];
  const place = perPlace && { allowance: perPlace, subject: `${account} ${address}` };
  return [...(place === undefined ? [] : [place]), { allowance: perAccount, subject: account }];
};

const limitsBy = (attempts: Attempts, allowances: Allowances): SignInLimits => ({
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
    // A success here must not give attempts back to an attacker elsewhere.
    for (const { allowance, subject } of wider) await attempts.giveBack(allowance, subject);
  },
  admitAddress: (address) => attempts.take(PER_ADDRESS, address),
  succeededAt: (address) => attempts.giveBack(PER_ADDRESS, address),
});

const SECOND_MS = 1_000;
const MINUTE_S = 60;

export const waitSeconds = (waitMs: number): number => Math.max(Math.ceil(waitMs / SECOND_MS), 1);

export const waitText = (waitMs: number): string => {
  const seconds = waitSeconds(waitMs);
  if (seconds <= MINUTE_S) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / MINUTE_S)} minutes`;
};
