import type { Request } from 'express';
import type { EventId, StreamName, UserId, WebhookId } from '#kernel/base/brands.ts';
import { notFound, Rejection, type RejectionCode } from '#kernel/base/rejection.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { pathEventId, pathId, pathStream } from '#kernel/base/rest/path-id.ts';

type Ids = {
  readonly userId: UserId;
  readonly webhookId: WebhookId;
  readonly deliveryId: EventId;
  readonly replayId: EventId;
  readonly orderId: string;
  readonly stream: StreamName;
};

/** The ids in a path, by name: `/webhooks/{webhookId}/deliveries` has `webhookId`. */
export type ItemOf<Path extends string> =
  Path extends `${string}{${infer Name extends keyof Ids}}${infer Rest}`
    ? Pick<Ids, Name> & ItemOf<Rest>
    : Readonly<Record<never, never>>;

type IdKind = {
  readonly read: (text: string) => number | string | undefined;
  readonly absent: RejectionCode;
};

/** Ids that are not numbers have a reader and a refusal of their own, unlike `userId`. */
const IDS: Readonly<Record<string, IdKind>> = {
  deliveryId: { read: pathEventId, absent: 'delivery_not_found' },
  replayId: { read: pathEventId, absent: 'replay_not_found' },
  orderId: { read: pathEventId, absent: 'order_not_found' },
  stream: { read: pathStream, absent: 'not_parked' },
};

const idKind = (name: string): IdKind =>
  IDS[name] ?? { read: pathId, absent: notFound(name.replace(/Id$/, '')) };

/** Reads the ids in the path of a request; an invalid id is not found. */
export const itemOf = <Path extends string>(
  { parameters }: Pick<RestOperation, 'parameters'> & { readonly path: Path },
  { params }: Pick<Request, 'params'>,
): ItemOf<Path> => {
  const ids = Object.entries(params).map(([name, text]) => {
    const { read, absent } = parameters?.[name] ?? idKind(name);
    const id = read(String(text));
    if (id === undefined) throw new Rejection(absent);
    return [name, id] as const;
  });
  // Express has matched the path of the operation, so these are its parameters.
  return Object.fromEntries(ids) as ItemOf<Path>;
};
