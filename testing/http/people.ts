// Over 200 lines, because it is one thing: the users and clients of a test, made over HTTP alone.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Role } from '#kernel/base/events/fields.ts';
import { policyOf } from '#shared/policy.ts';
import type { Installation } from '../installation.ts';
import { until } from '../until.ts';
import { openHandBrowser } from './browser-by-hand.ts';
import { restClientOf } from './rest-client.ts';

/** A user with an access token of the installation. */
export type TokenHolder = { readonly userId: number; readonly token: string; readonly email?: string };
export type Person = TokenHolder & {
  readonly email: string;
  readonly name: string;
  readonly refreshToken: string;
};

type Service = { readonly clientId: string; readonly secret: string };

/** An application that needs no consent of its users. */
type Application = { readonly clientId: string; readonly redirectUri: string };

/** Creates users and clients of an installation, over HTTP alone. */
export type People = {
  readonly administrator: TokenHolder;
  /** With a new token. */
  administratorAgain(): Promise<TokenHolder>;
  /** Signs up on the page, and signs in at an application that then has the token. */
  signUp(name: string): Promise<Person>;
  /** Signs in again after a change of role, until the token has the role. */
  signIn(person: Person, role: Role): Promise<Person>;
  /** Renews the tokens without a password, until they have the role. */
  refresh(person: Person, role: Role): Promise<Person>;
  /** Signs in again at another application. */
  signInAt(application: Application, person: Person): Promise<Person>;
  /** Resolves once the authorization server issues tokens to it. */
  registerClient(settings: object): Promise<Service>;
  registerService(role: Role): Promise<Service>;
  tokenOf(service: Service, scopes?: readonly string[]): Promise<TokenHolder>;
};

const CALLBACK = 'https://app.example/callback';
export const PASSWORD = 'correct horse battery staple';
/** Registered by an earlier run on this installation. */
const THERE_ALREADY = 409;
/** The application at which users sign up and sign in. */
export const JOURNAL: Application = { clientId: 'journal-app', redirectUri: CALLBACK };

type Asked = Pick<Installation, 'url' | 'fetch' | 'admin' | 'domain'> & {
  /** For an earlier release, which does not know all scopes of the domain. */
  readonly scopes?: readonly string[];
};

/** If the installation sends mail, `linkTo` finds the link that confirms an address. */
export const openPeople = async (
  installation: Asked,
  linkTo?: (email: string) => Promise<string>,
): Promise<People> => {
  const all = installation.scopes ?? policyOf(installation.domain).scopes;
  const scopes = { scopes: all, defaultScopes: all };
  const ask = restClientOf(installation);
  const tokenOf: People['tokenOf'] = async ({ clientId, secret }, scopes) => {
    const authorization = `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
    const form = { grant_type: 'client_credentials', ...(scopes && { scope: scopes.join(' ') }) };
    // The authorization server follows the log, and may not have read about the user of the service yet.
    const { body } = await until(
      () => requestToken(installation, form, { authorization }),
      ({ status }) => status === 200,
    );
    return holderOf((body as { access_token: string }).access_token);
  };
  const administrator = await tokenOf(installation.admin);
  const register = async (settings: object, well: readonly number[] = [201]): Promise<Service> => {
    const made = await ask('POST', '/clients', { token: administrator.token, body: settings });
    if (!well.includes(made.status)) throw new Error(`no client was registered: ${JSON.stringify(made)}`);
    return made.body as Service;
  };
  const registerService: People['registerService'] = (role) =>
    register({ ...SERVICE, ...scopes, serviceAccountRole: role });
  await register({ ...WEB_APPLICATION, ...scopes, clientId: JOURNAL.clientId }, [201, THERE_ALREADY]);
  const visit = visitorOf(installation, JOURNAL);
  const signInAs =
    ({ email }: Person) =>
    (browser: Browser, page: Page) =>
      browser.post(page.action, { ...page.hidden, email, password: PASSWORD });
  return {
    administrator,
    administratorAgain: () => tokenOf(installation.admin),
    async signUp(name) {
      const email = `${randomUUID()}@example.com`;
      const person = { name, email };
      const tokens = await visit(async (browser, signInPage) => {
        const signedUp = await signUpOn(browser, signInPage, person);
        if (linkTo === undefined) return signedUp;
        const page = await browser.get(await linkTo(email));
        await browser.post(page.action, { ...page.hidden, password: PASSWORD });
        const again = await browser.get(signInPage.url);
        return browser.post(again.action, { ...again.hidden, email, password: PASSWORD });
      });
      return { ...person, ...holding(tokens) };
    },
    async signIn(person, role) {
      const enter = signInAs(person);
      const tokens = await until(
        () => visit(enter),
        ({ access_token: token }) => claimsOf(token).role === role,
      );
      return { ...person, ...holding(tokens) };
    },
    refresh: refresherOf(installation),
    signInAt: async (application, person) => ({
      ...person,
      ...holding(await visitorOf(installation, application)(signInAs(person))),
    }),
    async registerClient(settings) {
      const client = await register(settings);
      // Once it knows the second client, it knows the first, whose authentication method may differ from
      // ours.
      await tokenOf(await registerService('reader'));
      return client;
    },
    registerService,
    tokenOf,
  };
};

const WEB_APPLICATION = {
  name: 'Journal',
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: [CALLBACK],
  // Its users are not asked for consent.
  firstParty: true,
};

const SERVICE = {
  name: 'Robot',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
};

type Browser = ReturnType<typeof openHandBrowser>;
type Page = Awaited<ReturnType<Browser['get']>>;

type Tokens = { readonly access_token: string; readonly refresh_token: string };

/** The code flow with PKCE, up to the tokens; the caller handles the sign-in page. */
const visitorOf =
  (installation: Pick<Installation, 'url' | 'fetch'>, { clientId, redirectUri }: Application) =>
  async (enter: (browser: Browser, signInPage: Page) => Promise<Page>): Promise<Tokens> => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const browser = openHandBrowser(installation.fetch);
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: challenge,
    });
    const signInPage = await browser.follow(await browser.get(`${installation.url}/authorize?${query}`));
    const last = await browser.follow(await enter(browser, signInPage));
    // A first-party application redirects to the page we are on.
    const code = new URL(last.location ?? last.url).searchParams.get('code');
    if (!code)
      throw new Error(`there is no code at ${last.url} (${last.status}): ${last.body.slice(0, 1_000)}`);
    const { status, body } = await requestToken(installation, {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    if (status !== 200) throw new Error(`there is no token: ${JSON.stringify(body)}`);
    return body as Tokens;
  };

const requestToken = (
  installation: Pick<Installation, 'url' | 'fetch'>,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) =>
  restClientOf(installation)('POST', '/token', {
    body: new URLSearchParams(form).toString(),
    type: 'application/x-www-form-urlencoded',
    headers,
  });

const refresherOf =
  (installation: Pick<Installation, 'url' | 'fetch'>): People['refresh'] =>
  (person, role) => {
    const form = { grant_type: 'refresh_token', client_id: JOURNAL.clientId };
    let held = person;
    return until(
      async () => {
        const { status, body } = await requestToken(installation, {
          ...form,
          refresh_token: held.refreshToken,
        });
        if (status !== 200) throw new Error(`no token was renewed: ${JSON.stringify(body)}`);
        held = { ...held, ...holding(body as Tokens) };
        return held;
      },
      ({ token }) => claimsOf(token).role === role,
    );
  };

const signUpOn = async (
  browser: Browser,
  { url }: Page,
  person: { name: string; email: string },
): Promise<Page> => {
  const page = await browser.get(`${url}/sign-up`);
  return browser.post(page.action, { ...page.hidden, ...person, password: PASSWORD });
};

const claimsOf = (token: string): { sub: string; role: string; iat: number } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const holderOf = (token: string): TokenHolder => ({ userId: Number(claimsOf(token).sub), token });

const holding = ({ access_token, refresh_token }: Tokens) => ({
  ...holderOf(access_token),
  refreshToken: refresh_token,
});
