import type { Subject } from '../identities/identities.ts';

/** A person as an identity provider has described them, after all checks of its answer. */
export type UpstreamPerson = Subject & {
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
  /** When they proved there who they are; undefined if it does not say so. */
  readonly authenticatedAtS: number | undefined;
};

/** The values that bind an answer to the request of one browser. */
export type Binding = {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

/** How recently the person must have signed in there. */
export type Freshness = 'any' | 'now' | { readonly maxAgeS: number };

export type Connection = {
  readonly name: string;
  readonly label: string;
  /** Whether it can state when the person signed in. */
  readonly provesFreshness: boolean;
  /** The address to which the browser goes. */
  begin(binding: Binding, freshness: Freshness): Promise<URL>;
  /** Exchanges the code, once. `query` is what the browser brought back. */
  finish(binding: Binding, query: URLSearchParams): Promise<UpstreamPerson>;
};

/**
 * `cancelled`: the person or the provider ended it there; `unreachable`: a retry may help; `unverified`: the answer
 * is not one to this request, or not of this provider.
 */
type Reason = 'cancelled' | 'unreachable' | 'unverified';

export class UpstreamFailed extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, options: ErrorOptions) {
    super(`The identity provider did not sign in anybody: ${reason}.`, options);
    this.name = 'UpstreamFailed';
    this.reason = reason;
  }
}
