export type RequestOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The timeout of one attempt. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
};
export type ReadOptions = RequestOptions & {
  /**
   * A cursor that the answer must include; by default that of the client's own last write. `false` reads
   * without waiting.
   */
  readonly consistency?: string | false;
};
/** Time travel: a time, a cursor, or a version of an item, such as `v3`. */
export type At = { readonly at?: string | Date };
export type WriteOptions = RequestOptions & {
  /**
   * Your own key, if the same call may be repeated, for example after a restart. `false` sends no key: then
   * the request is sent once.
   */
  readonly idempotencyKey?: string | false;
  /**
   * The ETag that the item must have. By default that of the representation that was passed; `false` skips
   * the check.
   */
  readonly ifMatch?: string | false;
  /** Why, for commands that record a reason. */
  readonly reason?: string;
  /**
   * The signature of the user, for commands with `signed`: the `request` in the details of the problem
   * `signature_required`, after they have signed at its `href`.
   */
  readonly signature?: string;
};
export type PageOptions = { readonly limit?: number; readonly after?: string; readonly before?: string };

/**
 * An item: its id, or its representation. With a representation, the write fails if the item has changed
 * since.
 */
export type Target = number | { readonly id: number };

/** The signature of a person for a command, as history and events show it. */
export type Signature = {
  readonly by: string;
  readonly meaning: string;
  readonly at: string;
  readonly means: 'passkey' | 'password';
};
