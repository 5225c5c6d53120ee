import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { mayAs, mayEver, mayReadPart, UnknownCondition } from './declared.ts';
import type { Caller } from './rights-callers.ts';
import { askingAs, isForPersons, type SeenRows } from './seen-rows.ts';
import type { Stage } from './stage.ts';

/**
 * The outcome of an attempt. `allowed` attempts may still be refused for the state of the aggregate, but not
 * for who the caller is.
 */
export type Outcome =
  | 'allowed'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'forbidden'
  | 'absent'
  | 'person_releases';

/** The scope of an operation, word for word as docs/declaration.md has it. */
export const scopeIn = ({ rights, fieldRights, path }: Kind, name: string): string => {
  const { scope, reads, items }: Row =
    rights[name] ?? fieldRights[name] ?? (name === 'read' ? {} : (rights.write ?? {}));
  const isReading = name === 'read' || reads !== undefined || items !== undefined;
  return `${typeof scope === 'string' ? scope : isReading ? 'read' : 'write'}:${path}`;
};

type Asked = { readonly kind: Kind; readonly name: string; readonly state: Row };
type Beside = { readonly [Name in 'shown' | 'above']?: Omit<Asked, 'name'> };
/** Computes outcomes from the declaration alone; undefined if it cannot evaluate a condition. */
export type Expecting = {
  /** Public parts need no scope, and other parts are as absent as without a token. */
  read(caller: Caller, asked: Omit<Asked, 'name'>): Outcome | undefined;
  /** Whether it shows the part with this right. */
  part(caller: Caller, asked: Asked): boolean | undefined;
  /** `shown` is what the caller must be able to read to learn that it exists, `above` the parent of a new one. */
  write(caller: Caller, asked: Asked & Beside): Outcome | undefined;
  /** The same for a creation, whose state names the owner. */
  create(caller: Caller, asked: Asked & Beside): Outcome | undefined;
};

export const expectingOf = (stage: Stage, seenRows: SeenRows): Expecting => {
  const { domain } = stage;
  const may = (caller: Caller, { kind, name, state }: Asked): boolean =>
    mayAs(askingAs(stage, seenRows, caller), kind, name, state);
  const read = (caller: Caller, asked: Omit<Asked, 'name'>): Outcome => {
    const { kind } = asked;
    const isScoped = caller.scopes.has(scopeIn(kind, 'read'));
    const as = isScoped ? caller : { ...caller, ...NOBODY };
    if (may(as, { ...asked, name: 'read' })) return 'allowed';
    if (mayEver(domain, kind, 'read', as.role)) return 'absent';
    return caller.token === undefined ? 'unauthenticated' : isScoped ? 'forbidden' : 'insufficient_scope';
  };
  const expecting: Expecting = {
    read: (caller, asked) => ifKnown(() => read(caller, asked)),
    part: (caller, { kind, name, state }) =>
      ifKnown(() => {
        const as = caller.scopes.has(scopeIn(kind, name)) ? caller : { ...caller, ...NOBODY };
        return mayReadPart(askingAs(stage, seenRows, as), kind, name, state);
      }),
    write: (caller, asked) =>
      ifKnown(() => {
        if (isPublic(domain, asked)) return undefined;
        if (caller.token === undefined) return 'unauthenticated';
        if (!caller.scopes.has(scopeIn(asked.kind, asked.name))) return 'insufficient_scope';
        const { shown, above } = asked;
        // Callers without the right to create learn nothing about the parent.
        if (above !== undefined && may(caller, asked))
          return may(caller, { ...above, name: 'read' }) ? 'allowed' : 'absent';
        // Whatever the scopes of the token.
        const isShown = shown === undefined || may(caller, { ...shown, name: 'read' });
        // Owners can always end theirs.
        const isEnd = asked.kind.commands[asked.name]?.kind === 'end';
        if (may(caller, asked)) return isShown || isEnd ? allowedTo(caller, asked) : 'absent';
        return isShown ? 'forbidden' : 'absent';
      }),
    create(caller, asked) {
      const { kind, state } = asked;
      const wanted = expecting.write(caller, asked);
      const owner = kind.owner === undefined ? undefined : state[kind.owner];
      if (wanted !== 'allowed' || owner === undefined || owner === caller.userId) return wanted;
      // Without the right, only administrators name another owner.
      if (kind.rights.forOthers === undefined) return caller.role === 'admin' ? 'allowed' : 'forbidden';
      return expecting.write(caller, { kind, name: 'forOthers', state });
    },
  };
  return expecting;
};
const allowedTo = ({ isPerson }: Caller, { kind, name }: Asked): Outcome =>
  isForPersons(kind, name) && !isPerson ? 'person_releases' : 'allowed';

const NOBODY = { role: 'anonymous', userId: null } as const;

const isPublic = (domain: Domain, { kind, name }: Asked): boolean => mayEver(domain, kind, name, 'anonymous');

const ifKnown = <Value>(compute: () => Value): Value | undefined => {
  try {
    return compute();
  } catch (error) {
    if (error instanceof UnknownCondition) return undefined;
    throw error;
  }
};
