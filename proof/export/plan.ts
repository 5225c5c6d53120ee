import * as z from 'zod';
import type { Position } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { digestOf, readWhole, writeWhole } from './folder.ts';
import { type FileEntry, Manifest } from './manifest.ts';

export const MANIFEST = 'manifest.json';
/** Exists while the export is unfinished, and fixes its range, so that resuming it gives the same bytes. */
export const PLAN = 'unfinished-export.json';

const Plan = Manifest.pick({
  log: true,
  at: true,
  after: true,
  upTo: true,
  files: true,
  heads: true,
  keys: true,
}).extend({
  withKeys: z.boolean(),
  before: Manifest.shape.chain.shape.before,
  /** The progress after the finished files. */
  done: z.strictObject({
    count: z.int().nonnegative(),
    head: Manifest.shape.chain.shape.before.shape.head,
    position,
  }),
});
export type Plan = z.output<typeof Plan>;

export type Range = {
  readonly after: Position;
  readonly upTo: Position | undefined;
  readonly withKeys: boolean;
};

export const writePlan = (folder: string, plan: Plan): Promise<unknown> =>
  writeWhole(folder, PLAN, `${JSON.stringify(plan)}\n`);

/** The plan of an unfinished export; undefined in an empty folder. Refuses a folder with anything else. */
export const readPlan = async (
  folder: string,
  names: readonly string[],
  asked: Range,
): Promise<Plan | undefined> => {
  const text = await readWhole(folder, PLAN);
  if (names.includes(MANIFEST) && text === undefined)
    throw new StartRefused(`${folder} contains a finished export: use another folder.`);
  if (text === undefined) {
    if (names.every((name) => name.startsWith(PLAN))) return undefined;
    throw new StartRefused(`${folder} is not empty, and contains no unfinished export: use another folder.`);
  }
  const plan = Plan.parse(JSON.parse(text));
  if (
    plan.after !== asked.after ||
    plan.withKeys !== asked.withKeys ||
    (asked.upTo !== undefined && asked.upTo !== plan.upTo)
  )
    throw new StartRefused(
      `${folder} contains another unfinished export: repeat that command, or use another folder.`,
    );
  await demandIntact(folder, plan.files);
  return plan;
};

/** Finished files are not read again, but their digests must match. */
const demandIntact = async (folder: string, files: readonly FileEntry[]): Promise<void> => {
  for (const { name, sha256 } of files)
    if ((await digestOf(folder, name)) !== sha256)
      throw new StartRefused(
        `${name} in ${folder} was changed since it was written: start again in another folder.`,
      );
};
