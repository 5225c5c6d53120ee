import type { Any, EventOf, GivenTo } from '../declare/run.ts';
import type { Domain } from '../registry/registry.ts';
import type {
  MessageFacts,
  MessageGiven,
  MessageInfo,
  PayloadSchema,
  SenderInfo,
} from '../registry/sender-info.ts';
import type { SenderDeclaration } from './declaration.ts';
import { resolveSender } from './resolve.ts';

/** A declared sender, which finds its aggregates once the domain has them. */
export type AnySender = {
  readonly sender: string;
  /** Throws `StartRefused`. */
  resolve(domain: Domain): SenderInfo;
};

/** The commands that callers may send: no timers’ and no reactions’ own. */
type SentCommand<A extends Any> = {
  [C in keyof A['commands']]: A['commands'][C] extends { readonly internal: true } ? never : C;
}[keyof A['commands']] &
  string;
/** The id and the form, as in a reaction. A creation names its owner, because a sender is no user. */
type GivenByMessage<A extends Any, C extends SentCommand<A>> = Omit<GivenTo<A, EventOf<A, C>>, 'when'>;

/**
 * The command that follows from a type of message: `message(claim, 'pay', { payload: Transfer, given: (transfer) =>
 * ({ id: transfer.claim }) })`.
 */
export const message = <A extends Any, C extends SentCommand<A>, P>(
  aggregate: A,
  command: C,
  {
    payload,
    given,
  }: {
    /** The schema of the message: of zod, or of another library with Standard Schema. */
    readonly payload: PayloadSchema<P>;
    /**
     * The id and the form of the command; undefined if nothing follows from this message. A pure function: a retry
     * must get the same.
     */
    readonly given: (payload: P, message: MessageFacts) => GivenByMessage<A, C> | undefined;
  },
): MessageInfo => ({
  kind: aggregate.kind,
  command,
  payload,
  given: given as (payload: never, message: MessageFacts) => MessageGiven | undefined,
});

type BaseOf<Role extends string> = { readonly name: string; readonly roles: readonly [Role, ...Role[]] };

/** Declares a service that sends messages, such as a provider of payments. `assemble` takes a list of them. */
export const sender = <const Role extends string>(
  _base: BaseOf<Role>,
  name: string,
  declaration: SenderDeclaration<NoInfer<Role>>,
): AnySender => ({
  sender: name,
  resolve: (domain) => resolveSender(domain, name, declaration as SenderDeclaration<string>),
});
