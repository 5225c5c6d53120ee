import { kebab, wire } from '#kernel/base/names.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { isOfInterest } from './actors-of-interest.ts';
import type { Checks } from './checks.ts';
import { itemsIn } from './forms.ts';
import { checkByGraphql, momentsOf, statesOf } from './history-at.ts';
import { askingAs, isWholeToAdministrators, mayBy, openSeenRows, stateOf } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import type { Made, Stage } from './stage.ts';
import { visibleEventsIfKnown } from './visible-events.ts';

/**
 * Every reader sees the events visible to it, the latest first; each leads to the state at that time, and so
 * does its version number.
 */
export const checkHistory = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const made = await alone(() => stage.shared(situation));
  await checkEntries(stage, checks, made);
  await checkVersions(stage, checks.of(historiesOf(situation.kind)), made);
  await stage.unmake(made);
};

/** A history shows no hidden events. */
export const hasShownEvents = ({ events }: Kind): boolean =>
  Object.values(events).some(({ hidden }) => !hidden);

export const historiesOf = ({ name }: Kind): string => `what ${name} was at each version`;

/**
 * One after the other: the next position in the log is the next version, so that a surplus or missing event
 * shows.
 */
let making: Promise<unknown> = Promise.resolve();
const alone = <Value>(make: () => Promise<Value>): Promise<Value> => {
  const made = making.then(make);
  making = made.catch(() => undefined);
  return made;
};

type Entry = {
  readonly version: number;
  readonly type: string;
  readonly _links: { readonly self?: { readonly href: string } };
};

const checkEntries = async (stage: Stage, checks: Checks, made: Made): Promise<void> => {
  const { situation, path } = made;
  if (situation.later.length > 0) return;
  const seenRows = openSeenRows(stage);
  await seenRows.look(situation.kind, made.id);
  for (const actor of stage.actors.filter((each) => isOfInterest(situation, each))) {
    const wanted = visibleEventsIfKnown(stage, actor, situation);
    if (wanted === undefined || actor.token === undefined) continue;
    const isReadable = mayBy(askingAs(stage, seenRows, actor), made, 'read');
    const { status, body } = await stage.read<readonly Entry[]>(`${path}/history?limit=100`, actor);
    const what = `the history of ${situation.name} for ${actor.key}`;
    checks.equal(status === 200, isReadable, what);
    if (status !== 200) continue;
    checks.equal(
      body.map(({ type }) => type),
      wanted.map(({ type }) => type).toReversed(),
      what,
    );
    const { self } = body.at(-1)?._links ?? {};
    if (self) checks.equal((await stage.read(self.href, actor)).status, 200, `the first version in ${what}`);
  }
};

/** At each version, cursor and time, the state equals the sum of the events until then. */
const checkVersions = async (stage: Stage, checks: Checks, made: Made): Promise<void> => {
  const { path, situation } = made;
  const { kind } = situation;
  const states = statesOf(made);
  // The search does not plan reactions.
  const moments = (await momentsOf(stage, made)).filter(
    ({ version }) => version === undefined || states.has(version),
  );
  for (const { at, version } of moments) {
    // By GraphQL, all are asked for; how they are written in a path is the same for each version.
    if (version !== undefined && version > 1 && at !== `v${version}`) continue;
    const after = version === undefined ? undefined : states.get(version);
    const what = `${situation.name}?at=${at}`;
    const { status, body, headers } = await stage.readAny(`${path}?at=${encodeURIComponent(at)}`);
    checks.equal(status, after?.status === 'present' ? 200 : 404, what);
    if (after?.status !== 'present') continue;
    const shown = /^"(\d+)-/.exec(headers.get('etag') ?? '')?.[1];
    // Readers without all parts see no versions.
    if (shown !== undefined || isWholeToAdministrators(kind))
      checks.equal(shown, String(version), `the version of ${what}`);
    // The other times of a version lead to the same state.
    if (at !== `v${version}`) continue;
    if (isWholeToAdministrators(kind))
      checks.equal(comparable(kind, stateOf(kind, body)), comparable(kind, after.fields), what);
    for (const list of Object.values(kind.lists)) {
      const items = await stage.readAny<readonly Row[]>(
        `${path}/${kebab(list.name)}?at=${encodeURIComponent(at)}`,
      );
      const wanted = itemsIn(after.fields, list).map((item) => plain(list.fields, item));
      checks.equal(
        items.body.map((item) => plain(list.fields, item)),
        wanted,
        `${list.name} of ${what}`,
      );
    }
  }
  await checkByGraphql(stage, checks, { made, moments });
};

/** Without the values that the search cannot know: ids, times, and new unique texts. */
const comparable = ({ fields }: Kind, state: Row): Row => plain(fields, state);

const plain = (fields: Readonly<Record<string, FieldDef>>, state: Row): Row =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, def]) =>
      def.kind === 'ref' || def.kind === 'instant' || def.unique
        ? []
        : [[name, state[name] ?? state[wire(name, def)] ?? null]],
    ),
  );
