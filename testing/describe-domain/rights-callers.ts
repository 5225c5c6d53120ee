import { policyOf } from '#shared/policy.ts';
import type { Actor, Stage } from './stage.ts';

/** Somebody who tries an operation. `scopes` are those of the token. */
export type Caller = Actor & { readonly scopes: ReadonlySet<string> };

export type Callers = {
  /** Every actor, with a token of all scopes. */
  readonly actors: readonly Caller[];
  /** An administrator, so that nothing but the scope is missing. */
  without(...scopes: readonly string[]): Promise<Caller>;
  only(...scopes: readonly string[]): Promise<Caller>;
};

/** Tokens last five minutes. */
const RENEWED_EACH_MS = 200_000;

export const callersOf = ({ domain, actors, installation, people }: Stage): Callers => {
  const all = policyOf(domain).scopes;
  const known = new Map<string, { readonly caller: Promise<Caller>; readonly untilMs: number }>();
  const administrator = async (key: string, scopes: readonly string[]): Promise<Caller> => {
    const { userId, token } = await people.tokenOf(installation.admin, scopes);
    return { key, role: 'admin', userId, token, isPerson: false, scopes: new Set(scopes) };
  };
  const renewed = (key: string, scopes: readonly string[]): Promise<Caller> => {
    const before = known.get(key);
    if (before !== undefined && before.untilMs > performance.now()) return before.caller;
    const caller = administrator(key, scopes);
    known.set(key, { caller, untilMs: performance.now() + RENEWED_EACH_MS });
    return caller;
  };
  return {
    actors: actors.map((actor) => ({
      ...{ key: actor.key, role: actor.role, userId: actor.userId, isPerson: actor.isPerson },
      scopes: new Set(all),
      get token() {
        return actor.token;
      },
    })),
    without: (...scopes) =>
      renewed(
        `admin without ${scopes.join(' ')}`,
        all.filter((each) => !scopes.includes(each)),
      ),
    only: (...scopes) => renewed(`admin with ${scopes.join(' ')} alone`, scopes),
  };
};
