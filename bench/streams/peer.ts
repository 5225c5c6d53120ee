import { buildSchema, type GraphQLSchema } from 'graphql';

// The common part of the peers: the same fields as ours, of an event in memory, for everybody, without
// rights.

/** A message of ours, and its data. */
export type Sample = { readonly message: string; readonly data: { readonly commentAdded: object } };

export const sample: Sample = JSON.parse(String(process.argv[2]));

type Subscriber = { readonly waiting: object[]; wake: (() => void) | undefined };

const subscribers = new Set<Subscriber>();
const DONE = { done: true, value: undefined } as const;

/** Each subscriber has the cheapest possible queue of its own. */
const happenings = (): AsyncIterableIterator<object> => {
  const subscriber: Subscriber = { waiting: [], wake: undefined };
  subscribers.add(subscriber);
  return {
    async next() {
      if (subscriber.waiting.length === 0)
        await new Promise<void>((resolve) => {
          subscriber.wake = resolve;
        });
      const value = subscriber.waiting.shift();
      return value === undefined ? DONE : { done: false, value };
    },
    async return() {
      subscribers.delete(subscriber);
      subscriber.waiting.length = 0;
      subscriber.wake?.();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

export const publish = (): void => {
  const event = { ...sample.data };
  for (const subscriber of subscribers) {
    subscriber.waiting.push(event);
    subscriber.wake?.();
  }
};

const TYPES = `
  scalar Cursor
  scalar DateTime
  type Query { nothing: String }
  type Subscription { commentAdded(articleId: ID!): CommentChange! }
  type CommentChange { cursor: Cursor! type: String! at: DateTime! comment: Comment }
  type Comment { id: ID! text: String! author: User! }
  type User { id: ID! name: String! }
`;

export const createSchema = (): GraphQLSchema => {
  const schema = buildSchema(TYPES);
  const field = schema.getSubscriptionType()?.getFields().commentAdded;
  if (field === undefined) throw new Error('the types have no subscription');
  field.subscribe = happenings;
  return schema;
};
