import { refusalsOf, refusalsOnItem } from '#kernel/decide/guards.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { refusalsOfCommand } from '#kernel/rest/writes.ts';
import type { Reply } from '../http/rest-client.ts';
import { isOfInterest } from './actors-of-interest.ts';
import { likenessOf } from './alike-attempts.ts';
import { type Attempt, attemptsOn } from './attempts.ts';
import type { Checks } from './checks.ts';
import { mayEver } from './declared.ts';
import { askingAs, mayBy, openSeenRows, type SeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import type { Actor, Made, Stage } from './stage.ts';
import { isPresent, tried } from './tried.ts';
import { writesHidden } from './written-parts.ts';

type Link = { readonly href: string; readonly method?: string };

/**
 * For every aggregate, in each of its states, and every actor: the aggregate is shown to those who may read
 * it, a command succeeds for those who may send it, and its link is there exactly if it changes something.
 */
export const checkLinks = async (
  stage: Stage,
  checks: Checks,
  { situation, known }: { readonly situation: Situation; readonly known: KnownLinks },
): Promise<void> => {
  const seenRows = openSeenRows(stage);
  const begin = async (like?: Begun): Promise<Begun> => {
    const made = await stage.make(situation);
    if (like === undefined) await seenRows.look(situation.kind, made.id);
    else seenRows.take(situation.kind, made.id, like.made.id);
    return { made, attempts: await attemptsOn(stage, made) };
  };
  let begun = await begin();
  for (const actor of stage.actors.filter((each) => isOfInterest(situation, each))) {
    let views = viewsOf(stage, actor);
    const { made } = begun;
    checkReading(
      {
        domain: stage.domain,
        checks,
        made,
        actor,
        isReadable: mayBy(askingAs(stage, seenRows, actor), made, 'read'),
      },
      await views(made.path),
    );
    for (const [index] of begun.attempts.entries()) {
      const attempt = begun.attempts[index] as Attempt;
      const trying = { stage, checks, seenRows, begun, actor, views };
      if (await checkOnce(trying, attempt, known)) {
        await stage.unmake(begun.made);
        begun = await begin(begun);
        views = viewsOf(stage, actor);
      }
    }
  }
  await stage.unmake(begun.made);
};

type Begun = { readonly made: Made; readonly attempts: readonly Attempt[] };

type Shown = Reply & { readonly body: { readonly _links: Readonly<Record<string, Link>> } };
/**
 * Representations as an actor sees them, each read once: what was refused changed nothing, so that the links
 * are the same for the next request. If it did change something, the next one contradicts its link.
 */
type Views = (path: string) => Promise<Shown>;

const viewsOf = (stage: Stage, actor: Actor): Views => {
  const seen = new Map<string, Promise<Shown>>();
  return (path) => {
    const shown = seen.get(path) ?? stage.read<Shown['body']>(path, actor);
    seen.set(path, shown);
    return shown;
  };
};

type Reading = {
  readonly domain: Domain;
  readonly checks: Checks;
  readonly made: Made;
  readonly actor: Actor;
  readonly isReadable: boolean | undefined;
};
const checkReading = (
  { domain, checks, made, actor, isReadable }: Reading,
  { status }: { readonly status: number },
): void => {
  const isAsked = actor.token === undefined && !mayEver(domain, made.situation.kind, 'read', actor.role);
  const hidden = isAsked ? 401 : 404;
  if (isReadable !== undefined)
    checks.equal(status, isReadable ? 200 : hidden, `${actor.key} reads ${made.situation.name}`);
};

type Trying = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly seenRows: SeenRows;
  readonly begun: Begun;
  readonly actor: Actor;
  readonly views: Views;
};

/** Whether a link led to an attempt, by the likeness of attempts. */
export type KnownLinks = Map<string, Promise<boolean>>;

/**
 * Tries an attempt once, and shows in all situations that make no difference to it that the link is the same.
 * Returns whether something was changed.
 */
const checkOnce = async (trying: Trying, attempt: Attempt, known: KnownLinks): Promise<boolean> => {
  const { stage, checks, begun, actor, views } = trying;
  const { situation } = begun.made;
  const likeness = likenessOf({ ...stage, situation, actor }, attempt) ?? '';
  const before = known.get(likeness);
  if (before === undefined) {
    const result = checkAttempt(trying, attempt);
    const isLinked = result.then((each) => each.isLinked);
    if (likeness !== '') known.set(likeness, isLinked);
    isLinked.catch(() => undefined);
    return (await result).isChanged;
  }
  const what = `the link to ${attempt.name} by ${actor.key} on ${situation.name}`;
  checks.equal(isLinkedIn(await views(attempt.on), attempt), await before, what);
  return false;
};

const isLinkedIn = ({ status, body }: Shown, { path, method }: Attempt): boolean =>
  status === 200 && Object.values(body._links).some((link) => link.href === path && link.method === method);

const checkAttempt = async (
  { stage, checks, seenRows, begun, actor, views }: Trying,
  attempt: Attempt,
): Promise<{ readonly isLinked: boolean; readonly isChanged: boolean }> => {
  const { made } = begun;
  const { kind, command, does } = attempt;
  const what = `${attempt.name} by ${actor.key} on ${made.situation.name}`;
  const shown = await views(attempt.on);
  const isLinked = isLinkedIn(shown, attempt);
  let outcome = await tried(stage, made, { actor, attempt });
  // A random choice may equal the present one, and a random item key may be in use.
  const isUnlucky = (outcome.isDone && !outcome.isChanged) || String(outcome.code).endsWith('_exists');
  if (isUnlucky && does === 'command') outcome = await tried(stage, made, { actor, attempt });
  const { isDone, isChanged, status, code } = outcome;
  if (outcome.isUnnamed) return { isLinked, isChanged };
  const asking = askingAs(stage, seenRows, actor);
  const state = asking.find(made.situation.kind.name, made.id);
  const writing = { kind, command, body: outcome.sent, state: state ?? {} };
  if (code === 'forbidden' && does === 'command' && writesHidden(asking, writing))
    return { isLinked, isChanged };
  // A move to the present place, or a form of the present values, succeeds for everyone.
  const isIdle =
    isDone && !isChanged && (command.kind === 'moveItem' || (await isPresent(stage, attempt, outcome.sent)));
  if (shown.status === 200 && !isIdle && !isApart(stage.domain, kind, command, code))
    checks.equal({ isLinked, code, status }, { isLinked: isChanged, code, status }, `the link to ${what}`);
  if (does !== 'create') {
    const isRight = mayBy(asking, made, command.name);
    const isRefused = status === 401 || status === 403 || (status === 404 && !outcome.isOfEndedTarget);
    if (isRight === false) checks.equal({ isRefused, status }, { isRefused: true, status }, what);
    if (isRight === true && shown.status === 200)
      checks.equal({ isRefused, status, code }, { isRefused: false, status, code }, what);
  }
  return { isLinked, isChanged };
};

/** Links cannot foresee uniqueness, limits on other aggregates, and custom `decide` code. */
const isApart = (domain: Domain, kind: Kind, command: CommandInfo, code: unknown): boolean => {
  if (command.decide !== undefined || String(code).endsWith('_exists')) return true;
  if (code === undefined) return false;
  const foreseen = new Set<unknown>(
    [...refusalsOf(domain, kind, command.when), ...refusalsOnItem(kind, command)].map(
      (refusal) => refusal.code,
    ),
  );
  return !foreseen.has(code) && new Set<unknown>(refusalsOfCommand(domain, kind, command)).has(code);
};
