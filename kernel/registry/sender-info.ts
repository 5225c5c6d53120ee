import type { RestOperation } from '../base/rest/operation.ts';

/** The schema of a message, by the Standard Schema that zod and other libraries have. */
export type PayloadSchema<out P> = {
  readonly '~standard': {
    readonly version: 1;
    readonly validate: (value: unknown) => Validated<P> | Promise<Validated<P>>;
  };
};
type Validated<P> =
  | { readonly value: P; readonly issues?: undefined }
  | { readonly issues: readonly PayloadIssue[] };
export type PayloadIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** Where a message has one of its values. */
export type Place = { readonly header: string } | { readonly field: string };

/** How a sender signs its messages; `secrets` and `keys` name settings. */
export type Signature =
  /** Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  | { readonly scheme: 'standard-webhooks'; readonly secrets: string; readonly type?: Place }
  /** GitHub: `X-Hub-Signature-256`, `X-GitHub-Delivery` and `X-GitHub-Event`. */
  | { readonly scheme: 'github'; readonly secrets: string }
  /** Stripe: `Stripe-Signature`; the id and the type are in the message. */
  | { readonly scheme: 'stripe'; readonly secrets: string }
  | HmacSignature
  | JwsSignature;

/** A keyed digest in a header. */
export type HmacSignature = {
  readonly scheme: 'hmac';
  readonly secrets: string;
  /** The header with the digest. */
  readonly header: string;
  /** By default `sha256`. */
  readonly digest?: 'sha256' | 'sha512';
  /** By default `hex`. */
  readonly encoding?: 'hex' | 'base64';
  /** The text before the digest in the header: `sha256=`. */
  readonly prefix?: string;
  /** By default `{body}`. With `{timestamp}`, the message has a time, which may differ by five minutes. */
  readonly signs?: string;
  /** The header with the time, in seconds since 1970, if `signs` has `{timestamp}`. */
  readonly timestamp?: string;
  readonly id: Place;
  readonly type: Place;
};

/** A JSON Web Signature: the body itself, or in a header beside the body. */
export type JwsSignature = {
  readonly scheme: 'jws';
  /** The setting with the public keys: a JWK set, or its https URL. */
  readonly keys: string;
  /** The header with a detached signature of the body. By default the body is the JWS. */
  readonly header?: string;
  /** By default ES256, ES384, ES512, PS256, PS384, PS512, RS256, RS384, RS512 and EdDSA. */
  readonly algorithms?: readonly string[];
  /** The `iss` and the `aud` that the message must have. */
  readonly issuer?: string;
  readonly audience?: string;
  /** By default the claim `jti`. */
  readonly id?: Place;
  /** By default the claim `type`, or the one event in the claim `events`. */
  readonly type?: Place;
};

/** A type of message, and the command that follows from it. */
export type MessageInfo = {
  readonly kind: string;
  readonly command: string;
  readonly payload: PayloadSchema<unknown>;
  /** The ids and the form of the command; undefined if nothing follows from this message. */
  readonly given: (payload: never, message: MessageFacts) => MessageGiven | undefined;
};
export type MessageGiven = {
  readonly id?: number;
  readonly form?: Readonly<Record<string, unknown>>;
};
export type MessageFacts = {
  /** The id by which the sender knows the message. */
  readonly id: string;
  readonly type: string;
};

/** A service that sends messages, with the role whose rights it has. */
export type SenderInfo = {
  readonly name: string;
  readonly says: string | undefined;
  readonly signature: Signature;
  readonly role: string;
  /** Whether a refusal by the state is answered with success, so that the sender does not retry. */
  readonly acknowledgesRefusals: boolean;
  /** By type of message. */
  readonly on: Readonly<Record<string, MessageInfo>>;
  readonly operationId: string;
  readonly operation: RestOperation;
  /** The list of refused messages of all senders. */
  readonly listing: RestOperation;
};
