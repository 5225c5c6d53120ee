/** Authorizes requests, and decides what follows a refusal. */
export type Session = {
  /** Returns the headers that authorize one request. */
  authorize(request: {
    readonly method: string;
    readonly url: string;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Readonly<Record<string, string>>>;
  /**
   * After a 401: returns whether a retry may succeed now, because the token differs from that in the refused
   * headers.
   */
  refused?(response: Response, headers: Readonly<Record<string, string>>): Promise<boolean>;
};

/** An access token, a function that returns one for each request, or a session. */
export type Token = string | (() => string | undefined | Promise<string | undefined>) | Session;

export const sessionOf = (token: Token | undefined): Session => {
  if (typeof token === 'object') return token;
  return {
    async authorize() {
      const value = typeof token === 'function' ? await token() : token;
      return value === undefined ? {} : { Authorization: `Bearer ${value}` };
    },
  };
};
