import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { type Progress, Stopped } from '#shared/projection/catch-up.ts';
import { agreesWithChain, type ChainState, chainAt, extendBy } from '../chain/chain-at.ts';
import { type AuditKeyDependencies, canonical, openSigner } from '../stored/signing-keys.ts';
import { toLine } from './cloud-event.ts';
import { LinesFile, openFolder, removeFile, writeWhole } from './folder.ts';
import { readClock, readProof, type SignedManifest, signManifest } from './manifest.ts';
import { demandOneForm } from './one-form.ts';
import { exportPersons } from './persons.ts';
import { MANIFEST, PLAN, type Plan, type Range, readPlan, writePlan } from './plan.ts';

type Exporting = AuditKeyDependencies & {
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
  /** The maximum size of a file, unless a single line is longer. */
  readonly fileBytesMax?: number;
};

const FILE_BYTES_MAX = 64 * 1_048_576;

/**
 * Writes events to a folder, and a manifest at the end. Resumes an unfinished export in it, with the same
 * resulting bytes.
 */
export const exportLog = async (
  exporting: Exporting,
  folder: string,
  asked: Range,
): Promise<SignedManifest> => {
  const names = await openFolder(folder);
  const begun = (await readPlan(folder, names, asked)) ?? (await begin(exporting, folder, asked));
  if (begun.log !== exporting.eventLog.identity)
    throw new StartRefused(
      `${folder} contains an unfinished export of the log ${begun.log}, but this is ${exporting.eventLog.identity}.`,
    );
  const plan = await writeFiles(exporting, folder, begun);
  const { log, at, after, upTo, files, heads, keys, before, done } = plan;
  await demandChain(exporting, done);
  const persons = plan.withKeys ? await exportPersons(exporting.pool, folder) : null;
  const signer = await openSigner(exporting);
  const count = done.count - before.count;
  const manifest = signManifest(signer, {
    format: 1,
    ...{ log, at, after, upTo, count },
    chain: { before, after: { count: done.count, head: done.head } },
    ...{ files, persons, heads, keys },
    clock: await readClock(exporting.pool),
  });
  await writeWhole(folder, MANIFEST, `${canonical(manifest)}\n`);
  await removeFile(folder, PLAN);
  return manifest;
};

/** Fixes the range now, so that a resumed export covers the same events. */
const begin = async (
  exporting: Exporting,
  folder: string,
  { after, upTo: asked, withKeys }: Range,
): Promise<Plan> => {
  const { pool, eventLog } = exporting;
  const log = eventLog.identity;
  await openSigner(exporting);
  const upTo = asked ?? (await eventLog.head());
  if (after > upTo)
    throw new StartRefused(`The export would start after position ${after} and end at ${upTo}.`);
  const before = toJson(await chainAt(exporting, after));
  const proof = await readProof(pool, { log, after, upTo });
  const plan: Plan = {
    ...{ log, at: new Date().toISOString(), after, upTo, withKeys, files: [], ...proof, before },
    done: { ...before, position: after },
  };
  await writePlan(folder, plan);
  return plan;
};

const writeFiles = async (
  { eventLog, signal, onProgress, fileBytesMax }: Exporting,
  folder: string,
  begun: Plan,
): Promise<Plan> => {
  await using files = new EventFiles(folder, begun, fileBytesMax ?? FILE_BYTES_MAX);
  const { done, upTo } = begun;
  for await (const events of readBetween(eventLog, { after: done.position, upTo }, signal)) {
    await files.take(events);
    onProgress({
      step: 'events',
      events: files.count - done.count,
      position: files.last,
      from: done.position,
      upTo,
    });
  }
  if (files.last < upTo) throw new Stopped();
  return await files.finish();
};

/** Refuses a log that contradicts the chain. Events after the end of the chain are not covered by this. */
const demandChain = async (
  { pool }: Exporting,
  { count, head }: { readonly count: number; readonly head: string },
): Promise<void> => {
  if (!(await agreesWithChain(pool, { count, head: Buffer.from(head, 'hex') })))
    throw new StartRefused(
      'The events in the log differ from the chain, so nothing was signed: npm run annals -- audit verify shows the differences.',
    );
};

const toJson = ({ count, head }: ChainState) => ({ count, head: head.toString('hex') });

/** Writes events to files of a bounded size, and records the progress in the plan after each. */
class EventFiles implements AsyncDisposable {
  readonly #folder: string;
  readonly #bytesMax: number;
  #plan: Plan;
  #state: ChainState;
  #file: LinesFile | undefined;
  #text = '';
  #textBytes = 0;
  last: Position;

  constructor(folder: string, plan: Plan, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
    this.#plan = plan;
    this.#state = { count: plan.done.count, head: Buffer.from(plan.done.head, 'hex') };
    this.last = plan.done.position;
  }

  get count(): number {
    return this.#state.count;
  }

  async take(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events) {
      demandOneForm(event);
      const line = `${toLine(this.#plan.log, event)}\n`;
      const bytes = Buffer.byteLength(line);
      if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) await this.finish();
      this.#text += line;
      this.#textBytes += bytes;
      this.#state = extendBy(this.#state, event);
      this.last = event.position;
    }
    await this.#flush();
  }

  /** Finishes the current file, if any, and returns the progress. */
  async finish(): Promise<Plan> {
    await this.#flush();
    if (this.#file === undefined) return this.#plan;
    const written = await this.#file.finish();
    this.#file = undefined;
    const { count, head } = this.#state;
    const { files, done } = this.#plan;
    const entry = { name: nameOf(files.length + 1), events: count - done.count, ...written };
    this.#plan = {
      ...this.#plan,
      files: [...files, entry],
      done: { count, head: head.toString('hex'), position: this.last },
    };
    await writePlan(this.#folder, this.#plan);
    return this.#plan;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.[Symbol.asyncDispose]();
  }

  get #bytes(): number {
    return (this.#file?.bytes ?? 0) + this.#textBytes;
  }

  async #flush(): Promise<void> {
    if (this.#textBytes === 0) return;
    this.#file ??= await LinesFile.create(this.#folder, nameOf(this.#plan.files.length + 1));
    await this.#file.write(this.#text);
    this.#text = '';
    this.#textBytes = 0;
  }
}

const nameOf = (number: number): string => `events-${String(number).padStart(6, '0')}.jsonl`;
