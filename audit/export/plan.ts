import * as z from 'zod';
import { type FileEntry, Manifest } from '#shared/audit/export/manifest.ts';
import type { Position } from '#shared/brands.ts';
import { position } from '#shared/events/fields.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { digestOf, readWhole, writeWhole } from './folder.ts';

export const MANIFEST = 'manifest.json';
/**
 * Is there as long as the export is unfinished, and says what it is to be, so that whoever goes on ends with
 * the same bytes.
 */
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
  /** After the files that are finished. */
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

/** What was begun in a folder; nothing where it is empty. Anything else is not touched. */
export const readPlan = async (
  folder: string,
  names: readonly string[],
  asked: Range,
): Promise<Plan | undefined> => {
  const text = await readWhole(folder, PLAN);
  if (names.includes(MANIFEST) && text === undefined)
    throw new StartRefused(`${folder} holds a finished export: name another folder for another.`);
  if (text === undefined) {
    if (names.every((name) => name.startsWith(PLAN))) return undefined;
    throw new StartRefused(
      `${folder} is not empty, and holds no export that was begun: name another folder.`,
    );
  }
  const plan = Plan.parse(JSON.parse(text));
  if (
    plan.after !== asked.after ||
    plan.withKeys !== asked.withKeys ||
    (asked.upTo !== undefined && asked.upTo !== plan.upTo)
  )
    throw new StartRefused(
      `${folder} holds an export of something else that was begun: repeat that command, or name another folder.`,
    );
  await demandIntact(folder, plan.files);
  return plan;
};

/** What is finished is not looked at again, but it must be what was written. */
const demandIntact = async (folder: string, files: readonly FileEntry[]): Promise<void> => {
  for (const { name, sha256 } of files)
    if ((await digestOf(folder, name)) !== sha256)
      throw new StartRefused(
        `${name} in ${folder} was changed since it was written: begin anew in another folder.`,
      );
};
