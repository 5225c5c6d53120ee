import { codeOf, stepAt } from '../../auth/second-factor/totp.ts';
import type { Seen } from '../../testing/http/browser-by-hand.ts';
import {
  type AccountFixture,
  credentialsOf,
  type OwnAccount,
  openOwnAccount,
  type Somebody,
} from './own-account.ts';

/** An app that shows codes, and the recovery codes on paper. */
type CodeApp = {
  /** A code that was not used before, if possible. */
  next(): string;
  readonly recoveryCodes: readonly string[];
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const decode = (text: string): Buffer => {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** Reads the secret from the page as an app does from the QR code. */
export const openCodeApp = (body: string): { next(): string } => {
  const secret = decode(/secret=([A-Z2-7]+)/.exec(body)?.[1] ?? '');
  let last = 0;
  return {
    next() {
      // One step ahead is valid as well, so no test waits for the clock.
      last = Math.max(stepAt(Date.now()) - 1, last + 1);
      return codeOf(secret, last);
    },
  };
};

export const recoveryCodesIn = (body: string): readonly string[] =>
  [...body.matchAll(/<li>([0-9a-z]{4}(?:-[0-9a-z]{4}){3})<\/li>/g)].map(([, code = '']) => code);

/** Turns codes on for the signed-in person. */
export const setUpCodes = async (account: OwnAccount): Promise<CodeApp> => {
  const page = await account.get('/account/second-factor');
  const app = openCodeApp(page.body);
  return { ...app, recoveryCodes: recoveryCodesIn((await turnOnCodes(account, page, app)).body) };
};

/** The first code is one step behind: where that step ends on the way to the server, the next one is good. */
export const turnOnCodes = async (
  account: OwnAccount,
  page: Seen,
  app: Pick<CodeApp, 'next'>,
): Promise<Seen> => {
  const turnOn = (to: Seen) => account.send(to, { do: 'turn-on', code: app.next() });
  const done = await turnOn(page);
  return done.status === 422 ? turnOn(done) : done;
};

/** A new person with a second factor, signed in. */
export const somebodyWithCodes = async (
  accounts: AccountFixture,
): Promise<{ person: Somebody; account: OwnAccount; app: CodeApp }> => {
  const { person, account } = await accounts.signedIn();
  return { person, account, app: await setUpCodes(account) };
};

/** Up to the prompt for a code. */
export const givePassword = async (
  { site }: AccountFixture,
  person: Pick<Somebody, 'email' | 'password'>,
): Promise<{ account: OwnAccount; question: Seen }> => {
  const account = openOwnAccount(site);
  return { account, question: await account.send(await account.get('/account'), credentialsOf(person)) };
};
