import { RETAINED_SINCE } from '#kernel/base/keeping.ts';
import { kebab, wire } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import { type Reaction, reactionsIn } from '#kernel/decide/memberships.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { until } from '../until.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { itemsIn } from './forms.ts';
import { holdsOn, release } from './holds.ts';
import { giverOf } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import { type Made, requestOf, type Stage } from './stage.ts';

/** The name under which its checks are counted. */
const named = ({ kind, path, target, event, command }: Reaction): string =>
  `${kind.name}: ${command.name} after ${target.name}.${event.name} by ${path}`;

/** The reactions to commands that somebody can send. Other checks cover erasures of users. */
const reactionsTo = (domain: Domain): readonly (Reaction & { readonly cause: CommandInfo })[] =>
  reactionsIn(domain).flatMap((reaction) => {
    if (isUser(reaction.target) || reaction.when !== undefined) return [];
    const cause = Object.values(reaction.target.commands).find(
      ({ internal, events }) => !internal && events.length === 1 && events[0] === reaction.event,
    );
    return cause === undefined ? [] : [{ ...reaction, cause }];
  });

export const reactionsOf = (domain: Domain): readonly string[] => reactionsTo(domain).map(named);

/** An event happens to the referenced aggregate, and the referring one reacts as declared. */
export const checkReactions = async (stage: Stage, checks: Checks): Promise<void> => {
  for (const reaction of reactionsTo(stage.domain))
    for (const situation of stage.found.situations)
      if (
        situation.kind === reaction.kind &&
        situation.later.length === 0 &&
        !runsCode(situation) &&
        refersIn(situation, reaction) !== undefined
      )
        await checkReaction(
          { stage, checks: checks.of(named(reaction)), reaction, cause: reaction.cause },
          situation,
        );
};

/** A command that reactive code sends may be refused, and later changes of the aggregate depend on it. */
const runsCode = ({ kind, steps }: Situation): boolean =>
  steps.some(({ command }) => command.events.some(({ name }) => name in kind.react));

type Reacting = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly reaction: Reaction;
  readonly cause: CommandInfo;
};

/** The references in the state of the search. */
const refersIn = (
  { state: { fields } }: Situation,
  { reference: { list, field } }: Reaction,
): number | undefined => {
  const [planned] =
    list === undefined
      ? [fields[field]]
      : itemsIn(fields, list).map((item) => item[field === list.key ? 'id' : field]);
  return typeof planned === 'number' ? planned : undefined;
};

const checkReaction = async (
  { stage, checks, reaction, cause }: Reacting,
  situation: Situation,
): Promise<void> => {
  const { target, command, reference } = reaction;
  if (isKept(reaction, situation) || (isHeld(reaction, situation) && cause.kind !== 'end')) return;
  const made = await stage.makeApart(situation);
  const holdable = { kind: situation.kind, id: made.id };
  const holds = isHeld(reaction, situation) ? await holdsOn(stage, holdable) : [];
  const planned = refersIn(situation, reaction) ?? 0;
  const id = made.ids.get(planned);
  const of = stage.found.byId.get(planned);
  if (id === undefined || of === undefined) return;
  const referred: Made = { ...made, situation: of, id, path: `/${target.path}/${id}` };
  const by = await giverOf(stage, referred, cause.name);
  const [method, path] = requestOf(stage.domain, target, cause, { [`${target.name}Id`]: id });
  const body = await freshBody(stage, target, cause, { by });
  const done = await stage.ask(method, path, { token: by.token, ...(body && { body }) });
  // Its present state may not allow the command.
  if (done.status >= 300) return;
  // It ends after its last hold.
  await release(stage, holdable, holds);
  const look = async (): Promise<boolean> => isDone(await shownOf(stage, made, reaction), reaction, id);
  const isSeen = await until(look, Boolean).catch(look);
  checks.equal(
    isSeen,
    true,
    `${command.name} of ${made.path} after ${cause.name} of ${referred.path}, by ${reference.field}`,
  );
};

/** Retention does not end with the target. */
const isKept = ({ command, kind }: Reaction, { state: { fields } }: Situation): boolean =>
  command.kind === 'end' && kind.retain !== undefined && fields[RETAINED_SINCE] !== null;

const isHeld = ({ command, kind }: Reaction, { state: { fields } }: Situation): boolean =>
  command.kind === 'end' && kind.hold === true && fields.held === true;

type Shown = { readonly status: number; readonly state: Row; readonly items: readonly Row[] };

const shownOf = async (
  { readAny }: Stage,
  { path }: Made,
  { reference: { list } }: Reaction,
): Promise<Shown> => {
  const { status, body } = await readAny(path);
  const items =
    list === undefined ? undefined : await readAny<readonly Row[]>(`${path}/${kebab(list.name)}?limit=100`);
  return { status, state: body, items: Array.isArray(items?.body) ? items.body : [] };
};

/** Ended, without the item, or with the values that its events set. */
const isDone = (
  { status, state, items }: Shown,
  { command, reference: { list, field }, kind }: Reaction,
  id: number,
): boolean => {
  if (command.kind === 'end') return status === 404;
  if (command.events.some(({ spec }) => spec.gone === true))
    return [state, ...items].every((each) => {
      const def = list === undefined ? kind.fields[field] : list.fields[field];
      return idOf(each[field] ?? each[wire(field, def)]) !== id;
    });
  if (command.kind === 'removeItem' && list !== undefined) {
    const def = field === list.key ? list.id.def : list.fields[field];
    return status === 200 && !items.some((item) => idOf(item[field] ?? item[wire(field, def)]) === id);
  }
  return command.events.every(({ sets }) =>
    Object.entries(sets).every(([name, set]) => isSet(kind, state, { name, set })),
  );
};

const isSet = (
  { fields }: Kind,
  state: Row,
  { name, set }: { readonly name: string; readonly set: unknown },
): boolean => fields[name]?.kind !== 'states' || state[name] === set;

const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Row).id : value;
