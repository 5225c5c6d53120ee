/** The signed-in user; tokens are kept in memory only. */
export type Session = {
  /** An access token that stays valid for a while. */
  token(): Promise<string>;
  /** A new access token, after an answer that refused this one. */
  renewed(refused: string): Promise<string>;
  signOut(): void;
};

export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
  readonly code: string;

  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}

export type Tokens = {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
};

type Endpoints = { readonly token: string; readonly clientId: string };

type SessionOptions = Endpoints & {
  /** New tokens, if the user signs in without leaving the page; rejects otherwise. */
  readonly signInAgain: (refused: SignInRefused, idToken: string | undefined) => Promise<Tokens>;
  readonly signOut: (idToken: string | undefined) => void;
};

/** Tokens are renewed this long before they expire, because an answer may be slow. */
const EARLY_MS = 60_000;
const MS_PER_SECOND = 1_000;

export const openSession = (
  first: Tokens,
  { signInAgain, signOut, ...endpoints }: SessionOptions,
): Session => {
  let tokens = first;
  let goodUntilMs = untilMs(first);
  let renewing: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    try {
      // A refresh token is valid once, so concurrent requests wait for this one.
      const next = await tokensBy(endpoints, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token ?? '',
      }).catch((error: unknown) => {
        if (error instanceof SignInRefused) return signInAgain(error, tokens.id_token);
        throw error;
      });
      tokens = { ...tokens, ...next };
      goodUntilMs = untilMs(next);
      return tokens.access_token;
    } finally {
      renewing = undefined;
    }
  };
  const renewOnce = (): Promise<string> => {
    renewing ??= renew();
    return renewing;
  };
  return {
    token: async () => (Date.now() < goodUntilMs ? tokens.access_token : renewOnce()),
    renewed: async (refused) => (refused === tokens.access_token ? renewOnce() : tokens.access_token),
    signOut: () => signOut(tokens.id_token),
  };
};

const untilMs = ({ expires_in }: Tokens): number => Date.now() + expires_in * MS_PER_SECOND - EARLY_MS;

export const tokensBy = async (
  { token, clientId }: Endpoints,
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> => {
  const response = await fetch(token, {
    method: 'POST',
    body: new URLSearchParams({ ...grant, client_id: clientId }),
  });
  const answer = (await response.json().catch(() => ({}))) as Tokens & {
    readonly error?: string;
    readonly error_description?: string;
  };
  if (response.ok) return answer;
  if (answer.error !== undefined) throw new SignInRefused(answer.error, answer.error_description ?? '');
  throw new Error(`the token endpoint answered ${response.status}`);
};
