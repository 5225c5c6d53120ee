import type { FieldDef } from '#kernel/declare/fields.ts';
import { kebab, wire } from '#kernel/registry/names.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import type { Checks } from './checks.ts';
import { itemsIn } from './forms.ts';
import type { Situation } from './situations.ts';
import type { Made, Stage } from './stage.ts';
import { toldIfKnown } from './told.ts';
import { stateOf } from './world.ts';

/** What has happened to it is told to whoever may know, the latest first, and leads to how it was; so it was by its version, too. */
export const checkHistory = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const made = await stage.make(situation);
  await checkEntries(stage, checks, made);
  await checkVersions(stage, checks, made);
  await stage.unmake(made);
};

type Entry = { readonly version: number; readonly type: string; readonly _links: { readonly self?: { readonly href: string } } };

const checkEntries = async (stage: Stage, checks: Checks, made: Made): Promise<void> => {
  const { situation, path } = made;
  for (const actor of stage.actors) {
    const wanted = toldIfKnown(stage, actor, situation);
    const shown = await stage.read(path, actor);
    if (wanted === undefined || actor.token === undefined || situation.later.length > 0) continue;
    const { status, body } = await stage.read<readonly Entry[]>(`${path}/history?limit=100`, actor);
    const what = `the history of ${situation.name} for ${actor.key}`;
    checks.equal(status === 200, shown.status === 200, what);
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

/** By each version what the events up to then add up to. */
const checkVersions = async (stage: Stage, checks: Checks, made: Made): Promise<void> => {
  const { path, situation } = made;
  const { kind } = situation;
  for (const [index, { after }] of situation.steps.flatMap(({ told }) => told).entries()) {
    if (after.status !== 'present') continue;
    const at = `?at=v${index + 1}`;
    const { status, body } = await stage.read(`${path}${at}`, stage.admin);
    checks.equal(status, 200, `${situation.name}${at}`);
    checks.equal(comparable(kind, stateOf(kind, body)), comparable(kind, after.fields), `${situation.name}${at}`);
    for (const list of Object.values(kind.lists)) {
      const items = await stage.read<readonly Row[]>(`${path}/${kebab(list.name)}${at}`, stage.admin);
      const wanted = itemsIn(after.fields, list).map((item) => plain(list.fields, item));
      checks.equal(
        items.body.map((item) => plain(list.fields, item)),
        wanted,
        `${list.name} of ${situation.name}${at}`,
      );
    }
  }
};

/** Without what the search cannot know: ids, moments, and texts that are made anew because no two may be the same. */
const comparable = ({ fields }: Kind, state: Row): Row => plain(fields, state);

const plain = (fields: Readonly<Record<string, FieldDef>>, state: Row): Row =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, def]) =>
      def.kind === 'ref' || def.kind === 'instant' || def.unique ? [] : [[name, state[name] ?? state[wire(name, def)] ?? null]],
    ),
  );
