import type { EventData } from './commands.ts';
import type { AggregatesOf, EventsOf, KindOf, UserOf } from './declared.ts';
import type { RequestOptions, Signature } from './options.ts';

type PublicEvents<A> = {
  [E in keyof EventsOf<A> & string]: EventsOf<A>[E] extends { readonly hidden: true } ? never : E;
}[keyof EventsOf<A> & string];
type EventOf<A> = A extends unknown
  ? {
      [E in PublicEvents<A>]: PublicEvent<
        `${KindOf<A>}.${E}`,
        EventData<A, EventsOf<A>[E & keyof EventsOf<A>]>
      >;
    }[PublicEvents<A>]
  : never;
type PublicEvent<Type, Data> = {
  readonly id: string;
  readonly type: Type;
  /** The schema version of the type. */
  readonly version: number;
  readonly at: string;
  /** When an import recorded it, which claims its time and its actor. */
  readonly importedAt?: string;
  /** Why, as the actor said, if the command records a reason. */
  readonly reason?: string;
  /** The signature of the person who signed the command, if it has `signed`. */
  readonly signature?: Signature;
  readonly cursor: string;
  /** The aggregate of the event, such as `claim-7`. */
  readonly subject: string;
  readonly actor: string | null;
  readonly data: Data;
  readonly parked?: true;
};
export type AnyEvent<D> = EventOf<AggregatesOf<D> | UserOf<D>>;
export type TypeOf<E> = E extends { readonly type: infer T extends string } ? T : never;
export type Pattern<D> = `${KindOf<AggregatesOf<D> | UserOf<D>>}.*` | '*';
/** The events that a type or a pattern matches. */
export type Matching<E, P> = P extends '*'
  ? E
  : P extends `${infer Kind}.*`
    ? E extends { readonly type: `${Kind}.${string}` }
      ? E
      : never
    : Extract<E, { readonly type: P }>;
export type EventQuery<T> = {
  readonly types?: readonly T[];
  readonly after?: string | undefined;
  readonly actor?: string;
  /** The aggregate of the event, such as `claim-7`. */
  readonly subject?: string;
  readonly since?: string | Date;
  /** Only events with this text in their data or their reason. */
  readonly text?: string;
  /** References in the event's data: `{ team: 3 }`. */
  readonly of?: Readonly<Record<string, number>>;
};
export type FollowOptions = Omit<RequestOptions, 'timeoutMs'> & {
  /** Reconnects after so long without a byte. */
  readonly silenceMaxMs?: number;
};
