/** A response with its body, parsed if it is JSON, otherwise as text. */
export type Reply = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export type Ask = {
  readonly token?: string | undefined;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  /** Instead of `application/json`. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Speaks to an installation as any program can: HTTP, a token, JSON. */
export type RestClient = (method: string, path: string, ask?: Ask) => Promise<Reply>;

export const restClientOf =
  ({ url, fetch: fetchIt = fetch }: { readonly url: string; readonly fetch?: typeof fetch }): RestClient =>
  async (method, path, { token, body, type = 'application/json', headers = {} } = {}) => {
    const response = await fetchIt(new URL(path, url).href, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    });
    return { status: response.status, headers: response.headers, body: await bodyOf(response) };
  };

const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  return /^application\/([\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '') && text !== ''
    ? JSON.parse(text)
    : text;
};
