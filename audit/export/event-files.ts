import { type ChainPlace, extendBy } from '#shared/audit/chain-at.ts';
import { toLine } from '#shared/audit/export/cloud-event.ts';
import type { Position } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { LinesFile } from './folder.ts';
import { type Plan, writePlan } from './plan.ts';

/** Writes events into files of a bounded size, and into the plan how far it is after each. */
export class EventFiles implements AsyncDisposable {
  readonly #folder: string;
  readonly #bytesMax: number;
  #plan: Plan;
  #place: ChainPlace;
  #file: LinesFile | undefined;
  #text = '';
  #textBytes = 0;
  last: Position;

  constructor(folder: string, plan: Plan, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
    this.#plan = plan;
    this.#place = { count: plan.done.count, head: Buffer.from(plan.done.head, 'hex') };
    this.last = plan.done.position;
  }

  get count(): number {
    return this.#place.count;
  }

  async take(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events) {
      const line = `${toLine(this.#plan.log, event)}\n`;
      const bytes = Buffer.byteLength(line);
      if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) await this.finish();
      this.#text += line;
      this.#textBytes += bytes;
      this.#place = extendBy(this.#place, event);
      this.last = event.position;
    }
    await this.#flush();
  }

  /** Ends the file that is begun, if there is one, and answers what has been written so far. */
  async finish(): Promise<Plan> {
    await this.#flush();
    if (this.#file === undefined) return this.#plan;
    const written = await this.#file.finish();
    this.#file = undefined;
    const { count, head } = this.#place;
    const { files, done } = this.#plan;
    const entry = { name: nameOf(files.length + 1), events: count - done.count, ...written };
    this.#plan = { ...this.#plan, files: [...files, entry], done: { count, head: head.toString('hex'), position: this.last } };
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
