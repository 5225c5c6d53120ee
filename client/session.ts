/** Whose requests these are: what authorizes each, and what is done if one is refused. */
export type Session = {
  /** The headers that authorize one request. */
  authorize(request: {
    readonly method: string;
    readonly url: string;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Readonly<Record<string, string>>>;
  /**
   * After a 401: whether the same request may go well now, because there is another token than in the headers
   * that authorized it.
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
